#pragma once

#include <kernels/step.h>
#include <cstdint>

/// The requests and replies of exercise 7.2. Replies hold integers, not bools: a wrong reply may have bytes that are
/// no valid bool.
namespace tinymp::exercise {

enum class Question : std::uint64_t { decisions, checks };

struct Undecided {
  kernels::GradientCounts found;
  std::int64_t steps;
  std::int32_t skips, was_taken;
};

struct Decided {
  std::int64_t steps, updates, calls, t;  ///< calls: of rule.begin; t: state.steps in the last call
  float lr, correction1, correction2;
  std::int32_t taken;
};

struct Check {
  /// If `begins` is 1, a row of steps begins, and `scale` and `growth_tracker` are the state before the row.
  float scale;
  std::int32_t growth_tracker, begins, bad, last;
};

struct Checked {
  float scale;
  std::int32_t growth_tracker, bad;
};

}  // namespace tinymp::exercise
