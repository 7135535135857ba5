#include <lessons/lab/report/gradient_sizes_terminal.h>
#include <lessons/lab/report/section.h>
#include <lessons/lab/report/sentences.h>
#include <lessons/lab/report/table.h>
#include <lessons/lab/report/terminal_curves.h>
#include <algorithm>
#include <utility>

namespace tinymp::report {

void print_section(std::ostream& out, const ReportSection& section, const TerminalStyle& style) {
  const std::string question = section.question.empty() ? "Recorded runs" : section.question;
  out << bold(printable(question, style.unicode), style) << "\n\n";
  const std::vector<Group> groups = group_by_recipe(section.runs);
  for (const Panel& panel : make_panels(groups)) {
    out << terminal_chart(panel, style, {.height = panel.quantity == Quantity::loss ? 14 : 7}) << "\n";
  }
  out << terminal_sizes(groups, style);
  if (!groups.empty()) out << format_table(groups_table(groups), style);
  for (const std::string& finding : finding_lines(groups)) {
    out << "\n";
    for (const std::string& line : wrap(printable(finding, style.unicode), style.width)) out << line << "\n";
  }
  if (section.verdict.empty()) return;
  out << "\n";
  for (const std::string& line : wrap(printable(section.verdict, style.unicode), style.width))
    out << line << "\n";
}

std::vector<ReportSection> sections_by_question(std::vector<Run> runs) {
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.header.date < b.header.date; });
  std::vector<ReportSection> sections;
  for (Run& run : runs) {
    auto same = std::find_if(sections.begin(), sections.end(), [&](const ReportSection& section) {
      return section.question == run.header.question;
    });
    if (same == sections.end()) same = sections.insert(same, {run.header.question, "", {}});
    same->runs.push_back(std::move(run));
  }
  return sections;
}

}  // namespace tinymp::report
