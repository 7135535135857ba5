#pragma once

#include <kernels/step.h>
#include <cstdint>

/// The requests and replies of exercise 7.2. Replies hold integers in place of bools: the bytes of a reply may be
/// no valid bool.
namespace tinymp::exercise {

enum class Question : std::uint64_t { decisions, checks };

struct Undecided {
  kernels::GradientCounts found;
  std::int64_t steps;
  std::int32_t skips, was_taken;
};

struct Decided {
  std::int64_t steps, updates, calls, t;  ///< calls of rule.begin, and the state.steps that it got
  float lr, correction1, correction2;
  std::int32_t taken;
};

struct Check {
  /// `scale` and `growth_tracker`: the state before a row of steps, used if `begins` is set.
  float scale;
  std::int32_t growth_tracker, begins, bad, last;
};

struct Checked {
  float scale;
  std::int32_t growth_tracker, bad;
};

}  // namespace tinymp::exercise
