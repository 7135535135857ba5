#pragma once

#include <cstdint>

namespace tinymp {

/// How a learning rate goes from the first step of a run to the last.
enum class ScheduleKind : std::uint8_t {
  constant,
  /// A tenth after half of the steps, a hundredth after three quarters: He et al. 2015 (arXiv 1512.03385),
  /// section 4.2.
  step,
  /// Half a wave down to zero: Loshchilov and Hutter 2017 (arXiv 1608.03983), equation 5, without restarts.
  /// The last step still moves; 0 would come after it.
  cosine,
};

/// The rate of each step. Steps that a loss scaler skips count: a schedule follows the run, not the weights.
///
///   optimizer.set_learning_rate(schedule.at(t));      // before step t; does not wait for the device
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  float lr = 0;            ///< the highest
  std::int64_t steps = 1;  ///< of the whole run, warm-up included
  /// The first so many steps climb in equal parts: 1/4, 2/4 and 3/4 of lr for 3 (Goyal et al. 2017, arXiv
  /// 1706.02677, section 2.2). What comes after them is as it were without; the cosine begins there.
  std::int64_t warmup = 0;

  float at(std::int64_t step) const;  ///< of step 1 .. steps; throws Error for another
};

}  // namespace tinymp
