#pragma once

#include <tinymp/numeric/loss_scaling.h>
#include <cstdint>

/// What exercise 7.1 is asked, and what it answers: a ScaleState without a bool, which in a reply could be
/// neither true nor false.
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
