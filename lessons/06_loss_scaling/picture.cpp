#include <fmt/format.h>
#include <lessons/06_loss_scaling/picture.h>
#include <lessons/lab/report/axis.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

// In pixels.
constexpr double width = 760, height = 320, left = 60, right = 600, top = 20, bottom = 260;

struct Axes {
  report::Axis scale, mse;
  double x(int e) const { return left + (right - left) * scale.position(std::ldexp(1.0, e)); }
  double y(double error) const { return bottom - (bottom - top) * mse.position(error); }
};

Axes axes_of(const std::vector<WindowPoint>& points, double fp32, double mean_image) {
  double largest = std::max(fp32, mean_image);
  int last = 1;
  for (const WindowPoint& p : points) {
    if (!std::isnan(p.mse)) largest = std::max(largest, p.mse);
    last = std::max(last, p.exponent);
  }
  return {{report::Scale::powers_of_two, 1, std::ldexp(1.0, last), 8},
          {report::Scale::linear, 0, largest, 6}};
}

std::string words(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, text);
}

std::string line(double x1, double y1, double x2, double y2, const char* look) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     look);
}

std::string frame(const Axes& axes) {
  std::string text;
  for (const report::Tick& tick : axes.mse.ticks()) {
    text += line(left, axes.y(tick.value), right, axes.y(tick.value), "stroke=\"#ddd\"");
    text += words(left - 8, axes.y(tick.value) + 4, "end", tick.label);
  }
  for (const report::Tick& tick : axes.scale.ticks()) {
    const double x = left + (right - left) * axes.scale.position(tick.value);
    text += words(x, bottom + 20, "middle", tick.label);
  }
  return text + line(left, bottom, right, bottom, "stroke=\"#333\"") +
         words((left + right) / 2, bottom + 44, "middle", "test MSE against the loss scale S; x: NaN");
}

std::string level(const Axes& axes, double error, const char* dash, const std::string& name) {
  return line(left, axes.y(error), right, axes.y(error), dash) +
         words(right + 8, axes.y(error) + 4, "start", fmt::format("{} {:.4f}", name, error));
}

std::string curve(const Axes& axes, const std::vector<WindowPoint>& points) {
  std::string path, marks;
  for (const WindowPoint& p : points) {
    const double x = axes.x(p.exponent);
    if (std::isnan(p.mse)) {
      const double y = top + 6;
      marks += line(x - 5, y - 5, x + 5, y + 5, "stroke=\"#d55e00\" stroke-width=\"2\"") +
               line(x - 5, y + 5, x + 5, y - 5, "stroke=\"#d55e00\" stroke-width=\"2\"");
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, axes.y(p.mse));
    marks +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"#0072b2\"/>\n", x, axes.y(p.mse));
  }
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"2\"/>\n", path) + marks;
}

}  // namespace

std::string window_bars(const std::vector<WindowPoint>& points) {
  std::string text = "  S      test MSE";
  for (const WindowPoint& p : points) {
    text += fmt::format("\n  2^{:<4} ", p.exponent);
    if (std::isnan(p.mse)) {
      text += "NaN";
      continue;
    }
    const double length = std::clamp(500 * p.mse, 0.0, 60.0);  // 0.002 a character
    text += fmt::format("{:.4f}   {}", p.mse, std::string(static_cast<std::size_t>(length), '#'));
  }
  return text;
}

std::string window_svg(const std::vector<WindowPoint>& points, double fp32, double mean_image) {
  const Axes axes = axes_of(points, fp32, mean_image);
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
             "height=\"{1}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
             "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
             width, height) +
         frame(axes) + level(axes, mean_image, "stroke=\"#777\" stroke-dasharray=\"2 4\"", "mean image") +
         level(axes, fp32, "stroke=\"#333\" stroke-dasharray=\"8 4\"", "FP32") + curve(axes, points) +
         "</svg>\n";
}

}  // namespace tinymp::lab
