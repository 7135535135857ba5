#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/terminal.h>
#include <string>

/// Curves drawn with characters.
namespace tinymp::report {

struct ChartOptions {
  int height = 12;    ///< rows of the drawing, without title, axis and legend
  bool band = false;  ///< also draw the smallest and largest value over the seeds, dotted
};

/// A chart of at most `style.width` columns (and never more than 100): title, drawing with both axes, a
/// legend line for each curve with its last value. Each column shows the mean of the steps that fall into it.
/// Curves differ by marker as well as by colour; a cross (✗, or X in ASCII) ends a curve whose loss stopped
/// being finite. The legend names a curve that another covers all along. Braille dots in Unicode, one
/// character a column in ASCII.
std::string terminal_chart(const Panel& panel, const TerminalStyle& style, const ChartOptions& options = {});

/// The character that stands for curve `index` in charts and legends.
std::string marker(std::size_t index, const TerminalStyle& style);

}  // namespace tinymp::report
