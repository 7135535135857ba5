#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/exp_log.h>
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

/// 10^n for n from -323 to 308. 10^323 would be infinite: beyond 10^-300 in two divisions.
double power_of_ten(int n) {
  double result = 1;
  if (n < -300) return power_of_ten(-300) / power_of_ten(-300 - n);
  for (int i = 0; i < (n < 0 ? -n : n); ++i) result *= 10;
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
    const double step = decade < 0 ? factor / power_of_ten(-decade) : factor * power_of_ten(decade);
    if (step >= smallest * (1 - 1e-9)) return step;
  }
  return 20 * power_of_ten(decade);
}

std::string tick_label(Scale scale, double value, int digits) {
  if (scale != Scale::share) return short_number(value, digits);
  const bool fits = std::isfinite(100 * value);
  return fits ? short_number(100 * value, digits) + " %" : short_number(value, digits) + " x 100 %";
}

/// As few digits as tell all labels apart; 17 tell any two doubles apart.
void label(std::vector<Tick>& ticks, Scale scale) {
  for (int digits = scale == Scale::share ? 4 : 6; digits <= 17; ++digits) {
    for (Tick& tick : ticks) tick.label = tick_label(scale, tick.value, digits);
    const auto same = [](const Tick& a, const Tick& b) { return a.label == b.label; };
    if (std::ranges::adjacent_find(ticks, same) == ticks.end()) return;
  }
}

/// Between these a linear axis may add and multiply without leaving the range of double.
constexpr double smallest_span = 1e-290, largest_value = 1e307;

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

double Axis::position(double value) const {
  const double at = measure(scale_, value);
  if (std::isnan(at)) return nan;
  const double part = high_ / 2 - low_ / 2 > largest_value  // its double may be infinite
                          ? (at / 2 - low_ / 2) / (high_ / 2 - low_ / 2)
                          : (std::clamp(at, low_, high_) - low_) / (high_ - low_);
  return std::clamp(part, 0.0, 1.0);
}

/// A flat line gets room above and below.
void Axis::make_room() {
  if (high_ - low_ > 1e-12 * std::max(std::abs(low_), std::abs(high_))) return;
  const bool is_part = scale_ == Scale::share && low_ >= 0 && high_ <= 1;
  const double size = std::abs(low_), room = size == 0 ? 1 : 0.1 * size,
               most = std::numeric_limits<double>::max();
  if (low_ == 0 || is_part) {
    high_ = is_part ? std::min(1.0, std::max(high_ + room, 0.01)) : high_ + room;
    low_ = 0;
  } else if (size < smallest_span) {
    low_ = std::min(low_, 0.0);
    high_ = std::max(high_, 0.0);
  } else {
    high_ = std::min(high_, most - room) + room;
    low_ = std::max(low_, room - most) - room;
  }
}

void Axis::set_linear_ticks(int wanted) {
  make_room();
  const bool is_extreme = std::max(std::abs(low_), std::abs(high_)) > largest_value;
  if (is_extreme || high_ - low_ < smallest_span) {  // no round numbers there
    ticks_ = {{low_, ""}, {high_, ""}};
    if (position(0) > 0.1 && position(0) < 0.9) ticks_.insert(ticks_.begin() + 1, {0, ""});
    return label(ticks_, scale_);
  }
  const double step = round_step((high_ - low_) / std::max(1, wanted - 1));
  // The first tick is a multiple of the step, unless the values are so much larger than their spread that it
  // could not be told from its neighbours.
  const double first = low_ / step;
  const double base = std::abs(first) > 4000 ? low_ : step * floor_of(first + 1e-9);
  const int count = std::max(1, ceil_of((high_ - base) / step - 1e-9));
  for (int i = 0; i <= count; ++i) {
    const double value = base + i * step;
    ticks_.push_back({std::abs(value) < 1e-9 * step ? 0 : value, ""});
  }
  low_ = base;
  high_ = base + count * step;
  label(ticks_, scale_);
}

void Axis::set_log_ticks(int wanted) {
  const bool decades = scale_ == Scale::decades;
  const int smallest = decades ? -323 : -1074, largest = decades ? 308 : 1023;  // of what a double can be
  if (high_ - low_ < 1e-9) {
    low_ -= decades ? 0.5 : 1;
    high_ += decades ? 0.5 : 1;
  }
  const int first = std::clamp(floor_of(low_ + 1e-9), smallest, largest - 1);
  const int last = std::clamp(ceil_of(high_ - 1e-9), first + 1, largest);
  int stride = 1;
  while ((last - first) / stride + 1 > std::max(2, wanted)) stride *= 2;
  for (int n = first; n <= last; n += stride) {
    const double value = decades ? power_of_ten(n) : std::ldexp(1, n);
    const bool is_subnormal = value < std::numeric_limits<double>::min();
    ticks_.push_back({value, !is_subnormal ? (decades ? short_number(value, 6) : scale_text(value))
                                           : concat(decades ? "1e" : "2^", n)});
  }
  low_ = first == smallest ? std::min<double>(low_, first) : first;
  high_ = last == largest ? std::max<double>(high_, last) : last;
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
