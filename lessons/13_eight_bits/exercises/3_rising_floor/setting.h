#pragma once

#include <tinymp/numeric/loss_scaling.h>
#include <cstdint>

/// The requests and replies of exercise 13.3: one step.
namespace tinymp::exercise {

struct Unmoved {
  EnhancedScaling policy;
  std::int64_t steps;
  float scale;
  std::int32_t growth_tracker, bad;
};

struct Moved {
  std::int64_t steps;
  float scale;
  std::int32_t growth_tracker, bad;
};

}  // namespace tinymp::exercise
