#pragma once

#include <cstdint>

/// What exercise 5.2 is asked, and what it answers.
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

/// What begin and moments make of it.
struct Begun {
  float correction1, correction2;
  std::int64_t steps;
  float lr, m0, m1;
};

/// What update is asked.
struct Corrected {
  Weight weight;
  float correction1, correction2;
};

}  // namespace tinymp::exercise
