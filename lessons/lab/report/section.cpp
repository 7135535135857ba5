#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/gradient_sizes_terminal.h>
#include <lessons/lab/report/memory_table.h>
#include <lessons/lab/report/section.h>
#include <lessons/lab/report/sentences.h>
#include <lessons/lab/report/table.h>
#include <lessons/lab/report/terminal_curves.h>
#include <algorithm>
#include <utility>

namespace tinymp::report {
namespace {

void print_text(std::ostream& out, const std::string& text, const TerminalStyle& style) {
  for (const std::string& line : wrap(printable(text, style.unicode), style.width)) out << line << "\n";
}

void print_curves(std::ostream& out, std::span<const Group> groups, const RunsView& view,
                  const TerminalStyle& style) {
  const bool band = !view.by.empty() || !view.metric.empty();
  const std::vector<std::string> missing = draw_view(groups, view, [&](const Panel& panel) {
    const bool is_first = panel.quantity == Quantity::loss || !view.metric.empty();
    out << terminal_chart(panel, style, {.height = is_first ? 14 : 7, .band = band && is_first}) << "\n";
  });
  for (const std::string& sentence : missing) {
    print_text(out, sentence, style);
    out << "\n";
  }
}

/// Final and best values where they say more than the table of groups, and the differences to a baseline.
void print_comparison(std::ostream& out, std::span<const Group> groups, const RunsView& view,
                      const TerminalStyle& style) {
  const Comparison comparison = compare_groups(groups, view);
  if (!says_more(comparison, view)) return;
  out << "\n"
      << bold(shorten(printable(comparison_title(comparison), style.unicode), style.width, style.unicode),
              style)
      << "\n\n"
      << format_table(comparison_table(comparison), style);
  if (const std::string note = comparison_note(comparison); !note.empty()) {
    out << "\n";
    print_text(out, note, style);
  }
}

void print_memory(std::ostream& out, std::span<const Group> groups, const TerminalStyle& style) {
  const Table table = memory_table(groups);
  if (table.rows.empty()) return;
  out << "\n" << bold("Memory", style) << "\n\n" << format_table(table, style) << "\n";
  print_text(out, memory_note(groups), style);
}

}  // namespace

void print_section(std::ostream& out, const ReportSection& section, const TerminalStyle& style,
                   bool with_verdict) {
  const std::string question = section.question.empty() ? "Recorded runs" : section.question;
  out << bold(printable(question, style.unicode), style) << "\n\n";
  const std::vector<Group> groups = groups_of(section.runs, section.view);
  print_curves(out, groups, section.view, style);
  out << terminal_sizes(groups, style);
  if (!groups.empty()) out << format_table(groups_table(groups), style);
  for (const FindingLine& finding : finding_lines(groups)) {
    out << "\n";
    print_text(out, finding.text, style);
  }
  print_comparison(out, groups, section.view, style);
  if (section.view.memory) print_memory(out, groups, style);
  if (section.verdict.empty() || !with_verdict) return;
  out << "\n";
  print_text(out, section.verdict, style);
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
