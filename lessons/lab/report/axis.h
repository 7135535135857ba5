#pragma once

#include <lessons/lab/report/curves.h>
#include <span>
#include <string>
#include <vector>

/// Where a value lies on an axis, and where the axis is labelled.
namespace tinymp::report {

struct Tick {
  double value;
  std::string label;
};

class Axis {
 public:
  /// An axis that shows every finite value of [low, high] and has between 2 and about `wanted_ticks` ticks,
  /// which go up and have different labels. The ticks are round numbers, except where the values or their
  /// spread come near the limits of double. On a logarithmic axis values that are not positive have no place
  /// (NaN). `low` > `high`: nothing to show, 0 .. 1.
  Axis(Scale scale, double low, double high, int wanted_ticks);

  /// 0 at the lower end and below, 1 at the upper end and above; NaN for NaN, infinities and what a logarithm
  /// cannot show.
  double position(double value) const;

  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void make_room();
  void set_linear_ticks(int wanted);
  void set_log_ticks(int wanted);

  Scale scale_;
  double low_, high_;  ///< of the value, or of its logarithm to the base 10 or 2
  std::vector<Tick> ticks_;
};

/// The axes of a panel: all steps; all means (and the bands, when they are drawn), as far as they can be
/// shown.
Axis step_axis(std::span<const Curve> curves, int wanted_ticks);
Axis value_axis(const Panel& panel, bool with_band, int wanted_ticks);

}  // namespace tinymp::report
