#pragma once

#include <cstdint>

/// What exercise 1.3 is asked; the answer is a magnitude.
namespace tinymp::exercise {

struct Question {
  std::uint32_t magnitude, random;
  std::int32_t drop, negative;
  std::int32_t mode;  ///< a Rounding, or below 0: none is named
};

}  // namespace tinymp::exercise
