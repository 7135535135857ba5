#include <lessons/lab/report/canvas.h>
#include <lessons/lab/report/terminal_curves.h>
#include <algorithm>
#include <cstdlib>

namespace tinymp::report {
namespace {

/// U+2800 + dots; the bits of the 2 x 4 dots are not in reading order (Unicode chapter 21.1, Braille
/// patterns).
constexpr unsigned braille_bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

std::string braille(unsigned dots) {
  const unsigned code_point = 0x2800 + dots;  // three bytes of UTF-8
  return {static_cast<char>(0xE0 | (code_point >> 12)), static_cast<char>(0x80 | ((code_point >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code_point & 0x3F))};
}

}  // namespace

Canvas::Canvas(int columns, int rows, const TerminalStyle& style)
    : style_(style),
      columns_(std::max(1, columns)),
      rows_(std::max(1, rows)),
      dots_x_(style.unicode ? 2 : 1),
      dots_y_(style.unicode ? 4 : 1),
      cells_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_)) {}

Canvas::Cell* Canvas::cell_at(int x, int y) {
  if (x < 0 || y < 0 || x >= dots_across() || y >= dots_down()) return nullptr;
  const int column = x / dots_x_, row = y / dots_y_;
  return &cells_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                 static_cast<std::size_t>(column)];
}

void Canvas::dot(int x, int y, std::size_t index) {
  Cell* cell = cell_at(x, y);
  if (cell == nullptr) return;
  cell->dots |= braille_bits[y % dots_y_][x % dots_x_];
  cell->index = index;
  if (!style_.unicode) cell->character = marker(index, style_);
}

/// Bresenham's line.
void Canvas::line(int x0, int y0, int x1, int y1, std::size_t index) {
  const int dx = std::abs(x1 - x0), dy = -std::abs(y1 - y0);
  const int step_x = x0 < x1 ? 1 : -1, step_y = y0 < y1 ? 1 : -1;
  int error = dx + dy;
  for (;;) {
    dot(x0, y0, index);
    if (x0 == x1 && y0 == y1) return;
    const int twice = 2 * error;
    if (twice >= dy) {
      error += dy;
      x0 += step_x;
    }
    if (twice <= dx) {
      error += dx;
      y0 += step_y;
    }
  }
}

void Canvas::put(int x, int y, const std::string& character, std::size_t index) {
  Cell* cell = cell_at(x, y);
  if (cell == nullptr) return;
  cell->character = character;
  cell->index = index;
}

std::string Canvas::row(int number) const {
  std::string text;
  const auto first = static_cast<std::size_t>(number) * static_cast<std::size_t>(columns_);
  for (std::size_t i = first; i < first + static_cast<std::size_t>(columns_); ++i) {
    const Cell& cell = cells_[i];
    if (cell.dots == 0 && cell.character.empty()) {
      text += ' ';
    } else {
      text += paint(cell.character.empty() ? braille(cell.dots) : cell.character, cell.index, style_);
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace tinymp::report
