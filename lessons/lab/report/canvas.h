#pragma once

#include <lessons/lab/report/terminal.h>
#include <string>
#include <vector>

/// A grid of character cells to draw on, each divided into dots: 2 x 4 with Braille patterns, 1 x 1 in ASCII.
namespace tinymp::report {

class Canvas {
 public:
  Canvas(int columns, int rows, const TerminalStyle& style);

  int dots_across() const { return columns_ * dots_x_; }
  int dots_down() const { return rows_ * dots_y_; }

  /// One dot of curve `index`; row 0 is the top. Outside the grid: nothing. A cell shows the curve that was
  /// drawn last.
  void dot(int x, int y, std::size_t index);
  void line(int x0, int y0, int x1, int y1, std::size_t index);
  /// A whole cell becomes this character, over all dots.
  void put(int x, int y, const std::string& character, std::size_t index);

  std::string row(int number) const;  ///< as text, with colours

 private:
  struct Cell {
    unsigned dots = 0;
    std::string character;
    std::size_t index = 0;
  };
  Cell* cell_at(int x, int y);

  TerminalStyle style_;
  int columns_, rows_, dots_x_, dots_y_;
  std::vector<Cell> cells_;
};

}  // namespace tinymp::report
