#include <lessons/lab/report/table.h>
#include <algorithm>
#include <utility>

namespace tinymp::report {
namespace {

constexpr int gap = 2;

Align align_of(const Table& table, std::size_t column) {
  return column < table.align.size() ? table.align[column] : Align::left;
}

std::vector<int> column_widths(const Table& table) {
  const std::vector<std::string>& first =
      table.header.empty() && !table.rows.empty() ? table.rows[0] : table.header;
  std::vector<int> widths;
  for (const std::string& name : first) widths.push_back(display_width(name));
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  return widths;
}

/// Takes columns away from the widest left-aligned one, down to 8, until the table fits.
void fit(std::vector<int>& widths, const Table& table, int available) {
  int total = -gap;
  for (int width : widths) total += width + gap;
  while (total > available) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may_shrink = align_of(table, i) == Align::left && widths[i] > 8;
      if (may_shrink && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;  // no column can give: better too wide than unreadable
    --widths[widest];
    --total;
  }
}

/// One row as text: as many lines as its tallest cell needs.
std::string row_text(const std::vector<std::string>& cells, const std::vector<int>& widths,
                     const Table& table) {
  std::vector<std::vector<std::string>> wrapped(widths.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
    wrapped[i] = wrap(cells[i], widths[i]);
    height = std::max(height, wrapped[i].size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string columns;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (i > 0) columns += std::string(gap, ' ');
      columns += pad(line < wrapped[i].size() ? wrapped[i][line] : "", widths[i], align_of(table, i));
    }
    columns.erase(columns.find_last_not_of(' ') + 1);
    text += columns + "\n";
  }
  return text;
}

std::string rule_under(const std::vector<int>& widths, bool unicode) {
  std::string rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) rule += std::string(gap, ' ');
    for (int c = 0; c < widths[i]; ++c) rule += unicode ? "─" : "-";
  }
  return rule;
}

}  // namespace

std::string format_table(const Table& given, const TerminalStyle& style) {
  Table table = given;
  for (std::string& cell : table.header) cell = printable(cell, style.unicode);
  for (auto& row : table.rows) {
    for (std::string& cell : row) cell = printable(cell, style.unicode);
  }
  std::vector<int> widths = column_widths(table);
  fit(widths, table, style.width);

  std::string text;
  if (!table.header.empty()) {
    text = bold(row_text(table.header, widths, table), style);
    text += faint(rule_under(widths, style.unicode), style) + "\n";
  }
  for (const auto& row : table.rows) text += row_text(row, widths, table);
  return text;
}

}  // namespace tinymp::report
