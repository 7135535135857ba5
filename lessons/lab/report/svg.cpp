#include <fmt/format.h>

#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/look.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/svg.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tinymp::report {
namespace {

constexpr std::size_t most_points = 500;
constexpr int markers_each = 6;

struct Axes {
  Axis step, value;
  /// In thousandths of the box, the top is 0; NaN where it cannot be shown.
  double x(double at) const { return 1000 * step.position(at); }
  double y(double at) const { return 1000 - 1000 * value.position(at); }
};

std::string percent_of(double thousandths) { return fmt::format("{:.2f}%", thousandths / 10); }

/// "M12.5 300L14 295..." with a new M after every gap; a scale goes in steps.
std::string line_path(const Curve& curve, const Axes& axes, bool steps) {
  std::string path;
  bool pen_down = false;
  for (std::size_t i = 0; i < curve.step.size(); ++i) {
    const double x = axes.x(curve.step[i]), y = axes.y(curve.mean[i]);
    if (std::isnan(y)) {
      pen_down = false;
      continue;
    }
    if (pen_down && steps) path += fmt::format("H{:.1f}V{:.1f}", x, y);
    if (pen_down && !steps) path += fmt::format("L{:.1f} {:.1f}", x, y);
    if (!pen_down) path += fmt::format("M{:.1f} {:.1f}", x, y);
    pen_down = true;
  }
  return path;
}

/// One closed shape for each stretch without a gap.
std::string band_path(const Curve& curve, const Axes& axes) {
  std::string path;
  for (std::size_t begin = 0; begin < curve.step.size();) {
    std::size_t end = begin;
    std::string there, back;
    for (; end < curve.step.size() && !std::isnan(axes.y(curve.mean[end])); ++end) {
      const double x = axes.x(curve.step[end]);
      const double low = axes.y(curve.low[end]), high = axes.y(curve.high[end]);
      there += fmt::format("{}{:.1f} {:.1f}", there.empty() ? "M" : "L", x, high);
      back = fmt::format("L{:.1f} {:.1f}", x, std::isnan(low) ? 1000 : low) + back;
    }
    if (!there.empty()) path += there + back + "Z";
    begin = end + 1;
  }
  return path;
}

/// A drawing of fixed size at a place in percent.
std::string stamp(double x, double y, const std::string& drawing) {
  return concat("<svg x=\"", percent_of(x), "\" y=\"", percent_of(y), "\" overflow=\"visible\">", drawing,
                "</svg>");
}

std::string markers(const Curve& curve, std::size_t index, std::size_t position, std::size_t count,
                    const Axes& axes) {
  const Look l = look(index);
  const std::string drawing = concat("<path class=\"mark\" d=\"", l.marker, "\" style=\"stroke:var(",
                                     l.colour, ");fill:var(", l.hollow ? "--card" : l.colour, ")\"/>");
  const double period = 1000.0 / markers_each;
  double next = period * (static_cast<double>(position) + 0.5) / static_cast<double>(count);
  std::string text;
  for (std::size_t i = 0; i < curve.step.size(); ++i) {
    const double x = axes.x(curve.step[i]), y = axes.y(curve.mean[i]);
    if (x < next || std::isnan(y)) continue;
    text += stamp(x, y, drawing);
    while (next <= x) next += period;
  }
  const std::string cross =
      concat("<path class=\"cross\" d=\"", cross_path, "\" style=\"stroke:var(", l.colour, ")\"/>");
  for (const CurveEnd& end : curve.ends) {
    const double y = axes.y(end.value);
    text += stamp(axes.x(end.step), std::isnan(y) ? 25 : y, cross);
  }
  return text;
}

std::string curve_group(const Panel& panel, std::size_t which, const Axes& axes) {
  const Curve curve = thin(panel.curves[which], panel.quantity, most_points);
  const std::size_t index = panel.group[which];
  const Look l = look(index);
  std::string text = concat("<g class=\"curve\" data-curve=\"", index,
                            "\"><svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" width=\"100%\" "
                            "height=\"100%\" overflow=\"visible\">");
  if (curve.seeds > 1) {
    text += concat("<path class=\"band\" d=\"", band_path(curve, axes), "\" style=\"fill:var(", l.colour,
                   ")\"/>");
  }
  text += concat("<path class=\"line\" d=\"", line_path(curve, axes, panel.quantity == Quantity::scale),
                 "\" style=\"stroke:var(", l.colour, ");stroke-dasharray:", *l.dash == '\0' ? "none" : l.dash,
                 "\"/>");
  return text + "</svg>" + markers(curve, index, which, panel.curves.size(), axes) + "</g>";
}

std::string axes_text(const Axes& axes) {
  std::string text;
  for (const Tick& tick : axes.value.ticks()) {
    const std::string y = percent_of(axes.y(tick.value));
    text += concat("<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"", y, "\" y2=\"", y,
                   "\"/><text x=\"0\" y=\"", y, "\" dx=\"-8\" dy=\"4\" text-anchor=\"end\">",
                   escape_html(pretty_power(tick.label)), "</text>");
  }
  for (const Tick& tick : axes.step.ticks()) {
    const std::string x = percent_of(axes.x(tick.value));
    text += concat("<text x=\"", x, "\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">",
                   escape_html(tick.label), "</text>");
  }
  text += "<text x=\"50%\" y=\"100%\" dy=\"34\" text-anchor=\"middle\">step</text>";
  return text + "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"100%\" y2=\"100%\"/>";
}

std::string value_text(const Panel& panel, double value) {
  if (panel.scale == Scale::share) return percent(value);
  return panel.quantity == Quantity::scale ? scale_text(value) : short_number(value, 4);
}

}  // namespace

std::string svg_chart(const Panel& panel) {
  const Axes axes{step_axis(panel.curves, 6), value_axis(panel, true, 6)};
  std::string text =
      concat("<svg role=\"img\" aria-label=\"", escape_html(describe_panel(panel)), "\">", axes_text(axes));
  for (std::size_t i = 0; i < panel.curves.size(); ++i) text += curve_group(panel, i, axes);
  return text + "</svg>";
}

std::string describe_panel(const Panel& panel) {
  std::string text = panel.title + " against the step.";
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
    text +=
        concat(value_text(panel, curve.mean[first]), " at step ", short_number(curve.step[first], 15), ", ",
               value_text(panel, curve.mean[last]), " at step ", short_number(curve.step[last], 15));
    if (!curve.ends.empty()) text += ", not finite from " + ends_text(curve);
    text += ".";
  }
  return text;
}

}  // namespace tinymp::report
