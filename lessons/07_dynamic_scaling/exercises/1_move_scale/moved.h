#pragma once

#include <cstdint>

/// What exercise 7.1 answers: a ScaleState without a bool, which in a reply could be neither true nor false.
namespace tinymp::exercise {

struct Moved {
  float scale;
  std::int32_t growth_tracker, bad;
};

}  // namespace tinymp::exercise
