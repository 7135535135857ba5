#include <tinymp/numeric/exp_log.h>
#include <tinymp/report/axis.h>
#include <tinymp/report/number.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::report {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_log(Scale scale) { return scale == Scale::decades || scale == Scale::powers_of_two; }

/// The value in the axis' own measure. Powers of two are exact, so that ticks meet their lines.
double measure(Scale scale, double value) {
  if (!is_log(scale)) return std::isfinite(value) ? value : nan;
  if (!(value > 0) || std::isinf(value)) return nan;
  int exponent = 0;
  if (scale == Scale::powers_of_two && is_power_of_two(value, exponent)) return exponent;
  return tinymp::log(value) / tinymp::log(scale == Scale::decades ? 10.0 : 2.0);
}

/// base^n by multiplication; |n| stays below 1100.
double power(double base, int n) {
  double result = 1;
  for (int i = 0; i < (n < 0 ? -n : n); ++i) result *= base;
  return n < 0 ? 1 / result : result;
}

/// The next integer up, of a number that a logarithm or a count of ticks can be.
int ceil_of(double value) {
  const double clamped = std::clamp(value, -4096.0, 4096.0);
  const int truncated = static_cast<int>(clamped);
  return truncated + (static_cast<double>(truncated) < clamped ? 1 : 0);
}
int floor_of(double value) { return -ceil_of(-value); }

/// 1, 2 or 5 times a power of ten, at least `smallest`.
double round_step(double smallest) {
  const int decade = floor_of(measure(Scale::decades, smallest));
  for (double factor : {1.0, 2.0, 5.0, 10.0}) {
    const double step = decade < 0 ? factor / power(10, -decade) : factor * power(10, decade);
    if (step >= smallest * (1 - 1e-9)) return step;
  }
  return 20 * power(10, decade);
}

std::string tick_label(Scale scale, double value) {
  if (scale == Scale::share) return short_number(100 * value, 4) + " %";
  return short_number(value, 6);
}

}  // namespace

Axis::Axis(Scale scale, double low, double high, int wanted_ticks) : scale_(scale) {
  low_ = measure(scale, low);
  high_ = measure(scale, high);
  if (!(low_ <= high_)) {
    low_ = 0;
    high_ = 1;
  }
  if (is_log(scale)) {
    set_log_ticks(wanted_ticks);
  } else {
    set_linear_ticks(wanted_ticks);
  }
}

double Axis::position(double value) const { return (measure(scale_, value) - low_) / (high_ - low_); }

void Axis::set_linear_ticks(int wanted) {
  // A flat line gets room above and below; otherwise the axis starts and ends at a tick.
  if (!(high_ - low_ > 1e-12 * std::max(std::abs(low_), std::abs(high_)))) {
    const double room = low_ == 0 ? 1 : 0.1 * std::abs(low_);
    low_ = scale_ == Scale::share || low_ == 0 ? 0 : low_ - room;
    high_ += room;
    if (scale_ == Scale::share) high_ = std::min(1.0, std::max(high_, 0.01));
  }
  const double step = round_step((high_ - low_) / std::max(1, wanted - 1));
  // The first tick is a multiple of the step, unless the values are so much larger than their spread that it
  // could not be told from its neighbours.
  const double first = low_ / step;
  const double base = std::abs(first) > 4000 ? low_ : step * floor_of(first + 1e-9);
  const int count = std::max(1, ceil_of((high_ - base) / step - 1e-9));
  for (int i = 0; i <= count; ++i) {
    const double value = base + i * step;
    ticks_.push_back({value, tick_label(scale_, std::abs(value) < 1e-9 * step ? 0 : value)});
  }
  low_ = base;
  high_ = base + count * step;
}

void Axis::set_log_ticks(int wanted) {
  const bool decades = scale_ == Scale::decades;
  if (high_ - low_ < 1e-9) {
    low_ -= decades ? 0.5 : 1;
    high_ += decades ? 0.5 : 1;
  }
  const int first = floor_of(low_ + 1e-9), last = std::max(first + 1, ceil_of(high_ - 1e-9));
  int stride = 1;
  while ((last - first) / stride + 1 > std::max(2, wanted)) stride *= 2;
  for (int n = first; n <= last; n += stride) {
    const double value = power(decades ? 10 : 2, n);
    ticks_.push_back({value, decades ? short_number(value, 6) : scale_text(value)});
  }
  low_ = first;
  high_ = std::max(last, first + stride);
}

Axis step_axis(std::span<const Curve> curves, int wanted_ticks) {
  double last = 1;
  for (const Curve& curve : curves) {
    if (!curve.step.empty()) last = std::max(last, curve.step.back());
  }
  return {Scale::linear, 0, last, wanted_ticks};
}

Axis value_axis(const Panel& panel, bool with_band, int wanted_ticks) {
  double low = infinity, high = -infinity;
  const auto take = [&](double value) {
    if (std::isnan(measure(panel.scale, value))) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (const Curve& curve : panel.curves) {
    for (double value : curve.mean) take(value);
    if (!with_band || curve.seeds < 2) continue;
    for (double value : curve.low) take(value);
    for (double value : curve.high) take(value);
  }
  if (panel.scale == Scale::share) low = std::min(low, 0.0);
  return {panel.scale, low, high, wanted_ticks};
}

}  // namespace tinymp::report
