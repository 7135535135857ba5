#pragma once

#include <kernels/step.h>
#include <cstdint>

/// What exercise 7.2 is asked, and what it answers; no bool, which in a reply could be neither true nor
/// false.
namespace tinymp::exercise {

enum class Question : std::uint64_t { decisions, checks };

struct Undecided {
  kernels::GradientCounts found;
  std::int64_t steps;
  std::int32_t skips, was_taken;
};

struct Decided {
  std::int64_t steps, updates, calls, t;  ///< calls of rule.begin, and the steps it saw
  float lr, correction1, correction2;
  std::int32_t taken;
};

struct Check {
  float scale;  ///< with the tracker: S where a row of steps begins
  std::int32_t growth_tracker, begins, bad, last;
};

struct Checked {
  float scale;
  std::int32_t growth_tracker, bad;
};

}  // namespace tinymp::exercise
