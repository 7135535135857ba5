#include <lessons/lab/report/table.h>
#include <algorithm>
#include <utility>

namespace tinymp::report {
namespace {

constexpr int usual_gap = 2;

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

int total_of(const std::vector<int>& widths, int gap) {
  int total = -gap;
  for (const int width : widths) total += width + gap;
  return total;
}

/// The columns that a cell needs so that no word in it is torn, between 8 and 12.
int narrowest(const Table& table, std::size_t column) {
  int width = 8;
  for (const auto& row : table.rows)
    if (column < row.size()) width = std::max(width, longest_piece(row[column]));
  return std::min(width, 12);
}

/// Takes characters from the widest left-aligned column until the table fits. The first column keeps `first` of them, the
/// others what their words need.
void shrink(std::vector<int>& widths, const Table& table, int first, int gap, int available) {
  std::vector<int> least{first};
  for (std::size_t i = 1; i < widths.size(); ++i) least.push_back(narrowest(table, i));
  for (int total = total_of(widths, gap); total > available; --total) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const bool may_shrink = align_of(table, i) == Align::left && widths[i] > least[i];
      if (may_shrink && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

/// Makes the table fit, and returns the gap between its columns. A name in the first column is there to be copied, so it
/// keeps a third of the line as long as other columns can give. Where none can, the table stays too wide: better than
/// unreadable.
int fit(std::vector<int>& widths, const Table& table, int available) {
  shrink(widths, table, std::max(8, available / 3), usual_gap, available);
  if (total_of(widths, usual_gap) <= available) return usual_gap;
  shrink(widths, table, 8, 1, available);
  return total_of(widths, 1) <= available ? 1 : usual_gap;
}

/// One row as text: as many lines as its tallest cell needs.
std::string row_text(const std::vector<std::string>& cells, const std::vector<int>& widths,
                     const Table& table, int gap) {
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
      if (i > 0) columns += std::string(static_cast<std::size_t>(gap), ' ');
      columns += pad(line < wrapped[i].size() ? wrapped[i][line] : "", widths[i], align_of(table, i));
    }
    columns.erase(columns.find_last_not_of(' ') + 1);
    text += columns + "\n";
  }
  return text;
}

std::string rule_under(const std::vector<int>& widths, bool unicode, int gap) {
  std::string rule;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i > 0) rule += std::string(static_cast<std::size_t>(gap), ' ');
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
  const int gap = fit(widths, table, style.width);

  std::string text;
  if (!table.header.empty()) {
    text = bold(row_text(table.header, widths, table, gap), style);
    text += faint(rule_under(widths, style.unicode, gap), style) + "\n";
  }
  for (const auto& row : table.rows) text += row_text(row, widths, table, gap);
  return text;
}

}  // namespace tinymp::report
