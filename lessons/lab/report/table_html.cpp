#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
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

/// " class=\"number\"" for a column of numbers.
const char* class_of(const Table& table, std::size_t column) {
  return column < table.align.size() && table.align[column] == Align::right ? " class=\"number\"" : "";
}

}  // namespace

std::string table_html(const Table& table, const std::string& box, const std::string& kind) {
  const bool summary = kind == "summary";
  std::string text = concat("<div class=\"", box, "\"><table", kind.empty() ? "" : " class=\"" + kind + "\"",
                            "><thead><tr>");
  for (std::size_t i = 0; i < table.header.size(); ++i)
    text += concat("<th scope=\"col\"", class_of(table, i), ">", escape_html(pretty_power(table.header[i])),
                   "</th>");
  text += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    text += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool names_row = i == 0;
      const std::string column =
          summary && !names_row ? " data-name=\"" + escape_html(table.header[i]) + "\"" : "";
      text += concat(names_row ? "<th scope=\"row\"" : "<td", column, class_of(table, i), ">", row[i],
                     names_row ? "</th>" : "</td>");
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string summary_html(const PageSection& section) {
  Table table = groups_table(section.groups);
  const std::string glossary = glossary_html(table);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t i = 0; i < table.header.size(); ++i) {
      std::string& cell = table.rows[row][i];
      const std::string how = table.header[i] == "lost" ? lost_how(section, row) : "";
      cell = concat(i == 0 ? swatch(row) : "", "<span>", escape_html(i == 0 ? cell : pretty_power(cell)),
                    how.empty() ? "" : "<small>" + escape_html(how) + "</small>", "</span>");
    }
  }
  return table_html(table, "table card", "summary") + glossary;
}

}  // namespace tinymp::report
