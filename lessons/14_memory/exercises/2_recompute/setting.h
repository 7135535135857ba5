#pragma once

#include <tinymp/numeric/dtype.h>
#include <cstdint>

/// What exercise 14.2 is asked: to recompute blocks, one after another, each of which makes y + draw (y w) of y.
namespace tinymp::exercise {

/// gradient: a Setting, and the numbers to draw; an Answer, a list of Run, and what was thrown.
/// course: which course the block takes the second time; what was thrown.
enum class Asked : std::uint64_t { gradient, course };

/// When autocast and a policy for products are in force.
enum class When : std::int32_t { never, always, forwards, backwards };
/// Of a block that has one effect the first time.
enum class Course : std::uint64_t { the_same, fewer_effects, more_effects };

struct Setting {
  float x, w;
  DType format;  ///< of autocast
  When autocast, products;
  std::int32_t blocks, nested;  ///< nested: they lie in a segment of their own
  std::int32_t x_wants;         ///< a gradient
};

struct Run {
  std::int32_t format, products;  ///< of y w; whether the policy for products was in force
  float drawn;
};
struct Answer {
  std::int32_t threw, runs_forward, runs, nodes, kept_forward, kept, most_kept;
  std::int32_t drawn, counted, casts, restored;
  float loss, of_x, of_w;  ///< -1: there is no gradient
};

}  // namespace tinymp::exercise
