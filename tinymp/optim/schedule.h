#pragma once

#include <cstdint>

namespace tinymp {

/// How the learning rate changes from the first step of a run to the last.
enum class ScheduleKind : std::uint8_t {
  constant,
  /// lr in the first half of the steps, lr / 10 in the third quarter, lr / 100 in the last quarter: He et al. 2015
  /// (arXiv 1512.03385), section 4.2.
  step,
  /// Half a cosine wave down to zero: Loshchilov and Hutter 2017 (arXiv 1608.03983), equation 5, without
  /// restarts. The last step has a rate above 0; one step later the rate would be 0.
  cosine,
};

/// The learning rate of each step. Skipped steps count too: the schedule counts the steps of the run, not the
/// updates of the weights.
///
///   optimizer.set_learning_rate(schedule.at(t));      // before step t; does not wait for the device
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  float lr = 0;            ///< the highest rate
  std::int64_t steps = 1;  ///< the steps of the whole run, warm-up included
  /// The rate climbs over the first `warmup` steps. If warmup is 3, their rates are 1/4, 2/4 and 3/4 of lr
  /// (Goyal et al. 2017, arXiv 1706.02677, section 2.2). The cosine begins after the warm-up. The other kinds do not
  /// shift: each step after the warm-up has the same rate as in a run without a warm-up.
  std::int64_t warmup = 0;

  /// The rate of step number `step`. Throws Error unless `step` is 1 .. `steps`.
  float at(std::int64_t step) const;
};

}  // namespace tinymp
