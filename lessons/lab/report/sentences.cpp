#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/sentences.h>
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

std::string value_text(const Panel& panel, double value) {
  if (panel.scale == Scale::share) return percent(value);
  return panel.quantity == Quantity::scale ? scale_text(value) : short_number(value, 4);
}

std::string describe_panel(const Panel& panel) {
  std::string text = panel.title + (panel.x == std::string_view("step") ? " against the step."
                                                                        : concat(" against ", panel.x, "."));
  for (const Curve& curve : panel.curves) {
    std::vector<std::size_t> finite;
    for (std::size_t i = 0; i < curve.mean.size(); ++i) {
      if (std::isfinite(curve.mean[i])) finite.push_back(i);
    }
    text += " " + curve.name + ": ";
    if (finite.empty()) {
      text += "never finite.";
      continue;
    }
    const std::size_t first = finite.front(), last = finite.back();
    text += concat(value_text(panel, curve.mean[first]), " at ", panel.x, " ",
                   short_number(curve.step[first], 15), ", ", value_text(panel, curve.mean[last]), " at ",
                   panel.x, " ", short_number(curve.step[last], 15));
    if (!curve.ends.empty()) text += ", not finite from " + ends_text(curve);
    text += ".";
  }
  return text;
}

std::vector<FindingLine> finding_lines(std::span<const Group> groups) {
  std::vector<FindingLine> lines;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    std::vector<const Run*> with;
    for (const Run* run : group.runs) {
      if (!run->findings.empty()) with.push_back(run);
    }
    if (with.empty()) continue;
    const Run& first = *with.front();
    const std::string name = group.runs.size() == 1
                                 ? group.name
                                 : concat(group.name, ", seed ", first.header.seed, " (", with.size(), " of ",
                                          group.runs.size(), " seeds have one)");
    for (const train::Finding& finding : first.findings)
      lines.push_back({g, finding.step, name + ": " + finding.sentence});
  }
  return lines;
}

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
