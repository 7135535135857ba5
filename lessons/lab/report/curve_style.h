#pragma once

#include <cstddef>
#include <string>

/// How curve `index` is drawn on a page: never told apart by colour alone.
namespace tinymp::report {

struct CurveStyle {
  const char* colour;  ///< a variable of page.css
  const char* dash;    ///< "8 4": pixels drawn, pixels left out; empty: solid
  const char* marker;  ///< an SVG path around (0, 0), 10 pixels across
  bool hollow;         ///< the marker is an outline
};

CurveStyle curve_style(std::size_t index);
/// After that many they come again. No two have the same dash and marker; seven have the same colour.
inline constexpr std::size_t curve_styles = 49;

/// The cross where a loss stopped being finite.
inline constexpr const char* cross_path = "M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5";

/// An inline drawing of line and marker, for tables and legends.
std::string swatch(std::size_t index);

}  // namespace tinymp::report
