#pragma once

#include <cstdint>

/// The request of exercise 5.1.
namespace tinymp::exercise {

/// The settings of one SGD step. In the request the masters, weights, moments and gradients follow.
struct Step {
  std::int32_t weights, has_master, copy, gradients, state;  ///< DTypes; has_master is 0 or 1
  float lr, momentum, decay, factor;
};

}  // namespace tinymp::exercise
