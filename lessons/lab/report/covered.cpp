#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/covered.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>

namespace tinymp::report {
namespace {

/// One of the pixels of a chart, which are about 300 from top to bottom.
constexpr double pixel = 1.0 / 300;

bool lies_on(const std::vector<Drawn>& upper, const std::vector<Drawn>& lower, double near) {
  return std::ranges::all_of(lower, [&](const Drawn& point) {
    const auto found = std::ranges::lower_bound(upper, point.x, {}, &Drawn::x);
    return found != upper.end() && found->x == point.x && std::abs(found->y - point.y) <= near;
  });
}

}  // namespace

std::vector<std::optional<std::size_t>> covered_by(std::span<const std::vector<Drawn>> curves, double near) {
  std::vector<std::optional<std::size_t>> covered(curves.size());
  for (std::size_t below = 0; below < curves.size(); ++below) {
    if (curves[below].size() < 2) continue;
    for (std::size_t above = below + 1; above < curves.size() && !covered[below]; ++above)
      if (lies_on(curves[above], curves[below], near)) covered[below] = above;
  }
  return covered;
}

std::vector<std::string> covered_words(const Panel& panel) {
  const Axis axis = value_axis(panel, true, 6);
  std::vector<std::vector<Drawn>> drawn;
  for (const Curve& curve : panel.curves) {
    std::vector<Drawn>& points = drawn.emplace_back();
    for (std::size_t i = 0; i < curve.step.size(); ++i)
      if (const double y = axis.position(curve.mean[i]); !std::isnan(y)) points.push_back({curve.step[i], y});
  }
  const std::vector<std::optional<std::size_t>> covered = covered_by(drawn, pixel);
  std::vector<std::string> words;
  for (std::size_t below = 0; below < covered.size(); ++below)
    if (covered[below])
      words.push_back(concat(panel.curves[*covered[below]].name, " covers ", panel.curves[below].name,
                             ": they coincide"));
  return words;
}

}  // namespace tinymp::report
