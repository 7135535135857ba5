#include <lessons/lab/report/spread.h>
#include <lessons/lab/report/thin.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace tinymp::report {
namespace {

constexpr std::size_t fewest_windows = 100;
/// Rows times curves: what a browser lays out for one panel when it is zoomed.
constexpr std::size_t most_cells = 200'000;

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// The points of window k.
struct Window {
  Spread mean{}, band{};

  void add(const Curve& curve, std::size_t i, Quantity quantity) {
    mean.add(curve.mean[i], quantity);
    band.add(curve.mean[i], quantity);
    band.add(curve.low[i], quantity);
    band.add(curve.high[i], quantity);
  }
};

void push(Curve& thinned, const Window& window, double middle, Quantity quantity) {
  const bool gap = window.mean.values.count() == 0;
  thinned.step.push_back(middle);
  thinned.mean.push_back(gap ? train::not_measured : window.mean.mean(quantity));
  thinned.low.push_back(gap ? train::not_measured : window.band.low);
  thinned.high.push_back(gap ? train::not_measured : window.band.high);
}

std::size_t rows_of(const Panel& panel) {
  std::set<double> steps;
  const std::vector<double>* before = nullptr;
  for (const Curve& curve : panel.curves) {
    if (before == nullptr || *before != curve.step) steps.insert(curve.step.begin(), curve.step.end());
    before = &curve.step;
  }
  return steps.size();
}

std::size_t width_of(const Curve& curve) { return curve.seeds > 1 ? 3 : 1; }

/// How many numbers the panels hold when none has more than `windows` rows.
std::size_t numbers(std::span<const Panel> panels, std::size_t windows) {
  std::size_t count = 0;
  for (const Panel& panel : panels)
    for (const Curve& curve : panel.curves) count += width_of(curve) * std::min(windows, curve.step.size());
  return count;
}

}  // namespace

Curve thin(const Curve& curve, Quantity quantity, const Windows& windows) {
  Curve thinned{.name = curve.name, .ends = curve.ends, .seeds = curve.seeds, .note = curve.note};
  const auto window_at = [&](double step) { return std::floor((step - windows.first) / windows.width); };
  for (std::size_t i = 0; i < curve.step.size();) {
    const double k = window_at(curve.step[i]);
    const double begin = windows.first + k * windows.width;
    Window window;
    for (; i < curve.step.size() && window_at(curve.step[i]) == k; ++i) window.add(curve, i, quantity);
    push(thinned, window, (begin + std::min(begin + windows.width - 1, windows.last)) / 2, quantity);
  }
  return thinned;
}

Windows windows_of(const Panel& panel, std::size_t most) {
  Windows windows{.first = std::numeric_limits<double>::infinity()};
  for (const Curve& curve : panel.curves) {
    if (curve.step.empty()) continue;
    windows.first = std::min(windows.first, curve.step.front());
    windows.last = std::max(windows.last, curve.step.back());
  }
  windows.width = std::max(1.0, std::ceil((windows.last - windows.first + 1) / static_cast<double>(most)));
  return windows;
}

Curve without_repeats(const Curve& curve) {
  Curve kept{.name = curve.name, .ends = curve.ends, .seeds = curve.seeds, .note = curve.note};
  const std::size_t points = curve.step.size();
  for (std::size_t i = 0; i < points; ++i) {
    const bool repeats = i > 0 && i + 1 < points && same(curve.mean[i], curve.mean[i - 1]) &&
                         same(curve.low[i], curve.low[i - 1]) && same(curve.high[i], curve.high[i - 1]);
    if (repeats) continue;
    kept.step.push_back(curve.step[i]);
    kept.mean.push_back(curve.mean[i]);
    kept.low.push_back(curve.low[i]);
    kept.high.push_back(curve.high[i]);
  }
  return kept;
}

std::size_t thin_for_page(std::span<Panel> panels, std::size_t most_numbers) {
  std::size_t windows = most_points;
  while (windows > fewest_windows && numbers(panels, windows) > most_numbers) windows = windows * 19 / 20;
  std::size_t widest = 1;
  for (Panel& panel : panels) {
    const std::size_t most = std::max(
        fewest_windows, std::min(windows, most_cells / std::max<std::size_t>(1, panel.curves.size())));
    if (rows_of(panel) <= most) continue;
    const Windows cut = windows_of(panel, most);
    for (Curve& curve : panel.curves) curve = thin(curve, panel.quantity, cut);
    widest = std::max(widest, static_cast<std::size_t>(cut.width));
  }
  return widest;
}

std::size_t numbers_of_a_page(std::size_t curves) {
  return std::clamp<std::size_t>(4200 * curves, 180'000, 420'000);
}

}  // namespace tinymp::report
