#pragma once

#include <cstdint>

/// The requests and replies of exercise 5.2.
namespace tinymp::exercise {

/// One weight in one step.
struct Weight {
  double beta1, beta2;
  float epsilon, decay;
  std::int32_t decoupled;
  float lr;
  std::int64_t t;
  float w, g, m0, m1;
};

/// The results of begin and moments.
struct Begun {
  float correction1, correction2;
  std::int64_t steps;
  float lr, m0, m1;
};

/// The input of update.
struct Corrected {
  Weight weight;
  float correction1, correction2;
};

}  // namespace tinymp::exercise
