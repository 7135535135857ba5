#pragma once

#include <cstdint>

/// What exercise 5.1 is asked for.
namespace tinymp::exercise {

/// How SGD moves its weights; behind it come masters, weights, moments and gradients.
struct Step {
  std::int32_t weights, has_master, copy, gradients, state;  ///< formats: a DType each
  float lr, momentum, decay, factor;
};

}  // namespace tinymp::exercise
