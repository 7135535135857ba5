#pragma once

#include <tinymp/numeric/tensor_scaling.h>
#include <array>
#include <cstdint>

/// What exercise 13.2 is asked and answers: one step of a tensor. What lies behind the history is not its business.
namespace tinymp::exercise {

struct Histories {
  static constexpr int room = 12;
  std::array<float, room> amax;
};

struct Unmoved {
  DelayedScaling policy;
  float scale;
  std::int32_t next;
  Histories history;
  float amax;
};

struct Moved {
  float scale;
  std::int32_t next;
  Histories history;
};

}  // namespace tinymp::exercise
