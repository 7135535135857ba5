#pragma once

#include <tinymp/numeric/loss_scaling.h>
#include <cstdint>

/// The requests and replies of exercise 7.1. Replies hold integers, not bools: a wrong reply may have bytes that are
/// no valid bool.
namespace tinymp::exercise {

struct Unmoved {
  DynamicScaling policy;
  float scale;
  std::int32_t growth_tracker, bad;
};

struct Moved {
  float scale;
  std::int32_t growth_tracker, bad;
};

}  // namespace tinymp::exercise
