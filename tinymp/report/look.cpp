#include <tinymp/base/error.h>
#include <tinymp/report/look.h>
#include <array>

namespace tinymp::report {
namespace {

// The order of the markers is that of the terminal: ● ▲ ■ ◆ ○ △ □.
constexpr const char* circle = "M4 0A4 4 0 1 1-4 0A4 4 0 1 1 4 0Z";
constexpr const char* triangle = "M0-5L4.7 3.4L-4.7 3.4Z";
constexpr const char* square = "M-3.8-3.8H3.8V3.8H-3.8Z";
constexpr const char* diamond = "M0-5.2L5.2 0L0 5.2L-5.2 0Z";

constexpr std::array<Look, looks> all = {{{"--c0", "", circle, false},
                                          {"--c1", "9 4", triangle, false},
                                          {"--c2", "2 3", square, false},
                                          {"--c3", "9 3 2 3", diamond, false},
                                          {"--c4", "14 4", circle, true},
                                          {"--c5", "5 3", triangle, true},
                                          {"--c6", "9 3 2 3 2 3", square, true}}};

}  // namespace

Look look(std::size_t index) { return all[index % looks]; }

std::string swatch(std::size_t index) {
  const Look l = look(index);
  return concat(
      "<svg class=\"swatch\" viewBox=\"0 0 34 12\" aria-hidden=\"true\"><path d=\"M0 6H34\" fill=\"none\" ",
      "stroke-width=\"2\" stroke-dasharray=\"", l.dash, "\" style=\"stroke:var(", l.colour,
      ")\"/><path transform=\"translate(17 6)\" stroke-width=\"1.6\" d=\"", l.marker,
      "\" style=\"stroke:var(", l.colour, ");fill:var(", l.hollow ? "--card" : l.colour, ")\"/></svg>");
}

}  // namespace tinymp::report
