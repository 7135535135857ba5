#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/memory_table.h>
#include <lessons/lab/report/recipes.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <utility>

// Tables below the charts: differences to a baseline, recipes side by side, memory.
namespace tinymp::report {
namespace {

std::string name_cell(std::size_t group, const std::string& name) {
  return concat(swatch(group), "<span>", escape_html(name), "</span>");
}

/// The group that the others are measured against, else the first.
std::size_t reference_of(const Comparison& comparison) {
  const auto found = std::ranges::find(comparison.groups, true, &Compared::is_baseline);
  return found == comparison.groups.end() ? 0 : static_cast<std::size_t>(found - comparison.groups.begin());
}

std::string recipe_row(const Setting& setting, std::size_t reference) {
  std::string text = concat(setting.differs() ? "<tr>" : "<tr class=\"alike\">", "<th scope=\"row\">",
                            escape_html(setting.name), "</th>");
  for (const std::string& value : setting.values) {
    const bool differs = value != setting.values[reference];
    text += concat(differs ? "<td class=\"differs\"><span>≠</span> " : "<td>",
                   escape_html(value.empty() ? "–" : pretty_power(value)), "</td>");
  }
  return text + "</tr>\n";
}

}  // namespace

std::string comparison_html(const Comparison& comparison, const RunsView& view) {
  if (!says_more(comparison, view)) return "";
  Table table = comparison_table(comparison);
  for (std::size_t g = 0; g < table.rows.size(); ++g) {
    table.rows[g][0] = name_cell(g, table.rows[g][0]);
    for (std::size_t i = 1; i < table.rows[g].size(); ++i) table.rows[g][i] = escape_html(table.rows[g][i]);
  }
  const std::string note = comparison_note(comparison);
  return concat("<div class=\"compared\"><h3>", escape_html(comparison_title(comparison)), "</h3>\n",
                table_html(table, "table card", "summary"),
                note.empty() ? "" : "<p class=\"glossary\">" + escape_html(note) + "</p>\n", "</div>\n");
}

std::string recipes_html(std::span<const Group> groups, const Comparison& comparison) {
  const std::size_t reference = reference_of(comparison);
  std::string text =
      "<details class=\"recipes\" open><summary>Recipes side by side</summary>\n<div class=\"table "
      "card\"><table><thead><tr><th scope=\"col\">setting</th>";
  for (std::size_t g = 0; g < groups.size(); ++g)
    text += concat("<th scope=\"col\">", name_cell(g, groups[g].name), "</th>");
  text += "</tr></thead><tbody>\n";
  for (const Setting& setting : settings_of(groups)) text += recipe_row(setting, reference);
  text += "</tbody></table></div>\n";
  if (groups.size() > 1)
    text +=
        concat("<p class=\"glossary\"><b>≠</b> differs from ", escape_html(groups[reference].name), "</p>\n");
  return text + "</details>\n";
}

std::string memory_html(std::span<const Group> groups) {
  Table table = memory_table(groups);
  if (table.rows.empty()) return "";
  std::size_t row = 0;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (memory_of(groups[g])) table.rows[row++][0] = name_cell(g, groups[g].name);
  return concat("<div class=\"memory\"><h3>Memory</h3>\n", table_html(table, "table card", "summary"),
                "<p class=\"glossary\">", escape_html(memory_note(groups)), "</p></div>\n");
}

}  // namespace tinymp::report
