#include <lessons/lab/report/curve_style.h>
#include <tinymp/base/error.h>
#include <array>

namespace tinymp::report {
namespace {

// The order of the markers is that of the terminal: ● ▲ ■ ◆ ○ △ □.
constexpr const char* circle = "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z";
constexpr const char* triangle = "M0-5L4.7 3.4L-4.7 3.4Z";
constexpr const char* square = "M-3.8-3.8H3.8V3.8H-3.8Z";
constexpr const char* diamond = "M0-5.2L5.2 0L0 5.2L-5.2 0Z";

struct Marker {
  const char* path;
  bool hollow;
};
constexpr std::array<const char*, 7> colours = {"--c0", "--c1", "--c2", "--c3", "--c4", "--c5", "--c6"};
constexpr std::array<const char*, 7> dashes = {"", "9 4", "2 3", "9 3 2 3", "14 4", "5 3", "9 3 2 3 2 3"};
constexpr std::array<Marker, 7> markers = {{{circle, false},
                                            {triangle, false},
                                            {square, false},
                                            {diamond, false},
                                            {circle, true},
                                            {triangle, true},
                                            {square, true}}};

}  // namespace

/// From the eighth curve on colours and dashes come again, each with the next marker; from the fifteenth with
/// the one after that.
CurveStyle curve_style(std::size_t index) {
  const std::size_t line = index % dashes.size();
  const Marker& marker = markers[(index + index / dashes.size()) % markers.size()];
  return {colours[line], dashes[line], marker.path, marker.hollow};
}

std::string swatch(std::size_t index) {
  const CurveStyle style = curve_style(index);
  return concat(
      "<svg class=\"swatch\" viewBox=\"0 0 34 12\" aria-hidden=\"true\"><path d=\"M0 6H34\" fill=\"none\" ",
      "stroke-width=\"2\" stroke-dasharray=\"", style.dash, "\" style=\"stroke:var(", style.colour,
      ")\"/><path transform=\"translate(17 6)\" stroke-width=\"1.6\" d=\"", style.marker,
      "\" style=\"stroke:var(", style.colour, ");fill:var(", style.hollow ? "--card" : style.colour,
      ")\"/></svg>");
}

}  // namespace tinymp::report
