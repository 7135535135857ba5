#pragma once

#include <tinymp/numeric/dtype.h>
#include <cstdint>

/// What exercise 14.2 is asked: to recompute blocks, one after another, each of which makes y + draw (y w) of y. Others of
/// several inputs and results, each of which is factor (in[a] w) + in[b], or in[b] itself.
namespace tinymp::exercise {

/// gradient: a Setting, and the numbers to draw; an Answer, a list of Run, and what was thrown.
/// course: which course the block takes the second time; what was thrown.
/// several: w, which tensor is which input, the values of the tensors, the number of blocks, a list of Made of each, and the
///     factor of each last result in the loss; a SeveralAnswer, the results, the gradients of the tensors, and what was thrown.
/// policies: a list of Under, one a block; a list of Run, and what was thrown.
/// failure: in which run the block throws; an AfterFailure, and what was thrown.
enum class Asked : std::uint64_t { gradient, course, several, policies, failure };

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

/// A result of a block.
struct Made {
  std::int32_t a, b;  ///< a: -1: in[b] itself
  float factor;
};
struct SeveralAnswer {
  std::int32_t inputs, again;  ///< that the blocks were given at least, in first runs and in second ones
  std::int64_t left_bytes;     ///< of tensors, when all is over
  float of_w;
};
/// What is in force around the first run of a block.
struct Under {
  DType format;  ///< of autocast; f32: none
  std::int32_t products;
};
/// 1: as before.
struct AfterFailure {
  std::int32_t policies, tape, records, remembers;
};

}  // namespace tinymp::exercise
