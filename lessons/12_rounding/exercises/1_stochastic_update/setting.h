#pragma once

#include <cstdint>

/// The requests and replies of exercise 12.1.
namespace tinymp::exercise {

struct WordQuestion {
  std::uint64_t seed;
  std::int64_t step, place, same;  ///< same: same_words_each_step
};
struct Words {
  std::uint32_t master, weight;
};

struct MoveQuestion {
  std::int32_t format;  ///< of `formats`
  std::int32_t mode;    ///< a Rounding
  std::int32_t kahan;
  float w, kept, update;
  std::uint32_t random;
};
struct Moved {
  float next, compensation;
  std::int32_t underflowed, absorbed;
};

}  // namespace tinymp::exercise
