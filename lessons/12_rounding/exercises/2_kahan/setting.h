#pragma once

#include <cstdint>

/// What exercise 12.2 is asked and answers.
namespace tinymp::exercise {

struct KahanQuestion {
  std::int32_t format;  ///< of `formats`
  float w, kept, update;
};
struct KahanAnswer {
  float next, rest;
  std::int32_t underflowed, absorbed;
};

}  // namespace tinymp::exercise
