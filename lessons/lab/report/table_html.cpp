#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/look.h>
#include <lessons/lab/report/table.h>
#include <lessons/lab/report/table_html.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <utility>

namespace tinymp::report {
namespace {

/// "8.1 % underflowed,", "66 % absorbed", a line each; empty when it was not measured apart.
std::string lost_how(const PageSection& section, std::size_t group) {
  for (const Panel& panel : section.panels) {
    for (std::size_t i = 0; i < panel.curves.size(); ++i) {
      std::string note = panel.curves[i].note;
      if (panel.group[i] != group || note.empty()) continue;
      if (const std::size_t comma = note.find(", "); comma != std::string::npos) note[comma + 1] = '\n';
      return note;
    }
  }
  return "";
}

std::string cell_html(const PageSection& section, const Table& table, std::size_t row, std::size_t column) {
  const std::string& name = table.header[column];
  const std::string how = name == "lost" ? lost_how(section, row) : "";
  return concat("<td data-name=\"", escape_html(name), "\"",
                table.align[column] == Align::right ? " class=\"number\"><span>" : "><span>",
                escape_html(pretty_power(table.rows[row][column])),
                how.empty() ? "" : "<small>" + escape_html(how) + "</small>", "</span></td>");
}

/// The words of the table's header that need one.
std::string glossary_html(const Table& table) {
  constexpr std::array<std::pair<const char*, const char*>, 4> words = {
      {{"lost",
        "updates that left their weight as it was: too small for the format (underflowed) or for the weight "
        "(absorbed)"},
       {"flushed", "gradients that are zero here and not in FP32"},
       {"skips", "steps left out because a gradient was not finite"},
       {"final S", "loss scale at the last logged step"}}};
  std::string text;
  for (const auto& [word, meaning] : words) {
    if (std::find(table.header.begin(), table.header.end(), word) == table.header.end()) continue;
    text += concat(text.empty() ? "" : " · ", "<b>", word, "</b> ", meaning);
  }
  return text.empty() ? "" : "<p class=\"glossary\">" + text + "</p>\n";
}

}  // namespace

std::string table_html(const PageSection& section) {
  const Table table = groups_table(section.groups);
  std::string text = "<div class=\"table card\"><table class=\"summary\"><thead><tr>";
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    text += concat("<th scope=\"col\"", table.align[i] == Align::right ? " class=\"number\">" : ">",
                   escape_html(table.header[i]), "</th>");
  }
  text += "</tr></thead><tbody>\n";
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    text +=
        "<tr><th scope=\"row\">" + swatch(row) + "<span>" + escape_html(table.rows[row][0]) + "</span></th>";
    for (std::size_t i = 1; i < table.header.size(); ++i) text += cell_html(section, table, row, i);
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n" + glossary_html(table);
}

}  // namespace tinymp::report
