#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <functional>
#include <vector>

namespace tinymp::report {
namespace {

using train::RunHeader;

/// Every different value once, in order of appearance.
std::string values_of(std::span<const Group> groups,
                      const std::function<std::string(const RunHeader&)>& field) {
  std::vector<std::string> different;
  for (const Group& group : groups) {
    for (const Run* run : group.runs) {
      const std::string value = field(run->header);
      if (!value.empty() && std::find(different.begin(), different.end(), value) == different.end()) {
        different.push_back(value);
      }
    }
  }
  std::string text;
  for (const std::string& value : different) text += (text.empty() ? "" : "; ") + value;
  return text;
}

std::string fact(const char* name, const std::string& value, const char* tag = "") {
  if (value.empty()) return "";
  const bool code = *tag != '\0';
  return concat("<dt>", name, "</dt><dd>", code ? "<code>" : "", escape_html(value), code ? "</code>" : "",
                "</dd>\n");
}

std::string facts(std::span<const Group> groups) {
  const auto values = [&](std::string RunHeader::*field) {
    return values_of(groups, [field](const RunHeader& h) { return h.*field; });
  };
  std::string text = "<dl>\n" + fact("Again", values(&RunHeader::command), "code");
  text += fact("Model", values(&RunHeader::model)) + fact("Data", values(&RunHeader::data));
  text += fact("Optimizer", values(&RunHeader::optimizer));
  text += fact("Length", values_of(groups, [](const RunHeader& h) {
                 return concat(h.steps, " steps of ", describe_batch(h), " examples");
               }));
  text += fact("Commit", values(&RunHeader::commit), "code") + fact("Compiler", values(&RunHeader::compiler));
  text += fact("Device", values(&RunHeader::device)) + fact("Pieces", values(&RunHeader::pieces));
  text += fact("Threads", values_of(groups, [](const RunHeader& h) { return concat(h.threads); }));
  return text + fact("Date", values(&RunHeader::date)) + "</dl>\n";
}

std::vector<std::string> run_row(const Group& group, std::size_t index, const Run& run) {
  std::vector<std::string> row{
      swatch(index) + escape_html(group.name),
      escape_html(run.foreign_recipe.empty() ? describe(run.header.recipe) : run.foreign_recipe),
      run.has_seed ? concat(run.header.seed) : "-"};
  if (run.result) {
    for (const std::string& text : {short_number(run.result->value, 6), concat(run.result->taken),
                                    concat(run.result->skipped), duration(run.result->seconds)})
      row.push_back(text);
  } else {
    row.insert(row.end(), {"interrupted", "", "", ""});
  }
  row.push_back("<code>" + escape_html(run.path) + "</code>");
  return row;
}

}  // namespace

std::string provenance_html(std::span<const Group> groups) {
  constexpr Align left = Align::left, right = Align::right;
  Table table{{"run", "recipe", "seed", "result", "steps", "skipped", "time", "log"},
              {left, left, right, right, right, right, right, left},
              {}};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const Run* run : groups[g].runs) table.rows.push_back(run_row(groups[g], g, *run));
  }
  return "<details><summary>Where these figures come from</summary>\n" + facts(groups) + table_html(table) +
         "</details>\n";
}

}  // namespace tinymp::report
