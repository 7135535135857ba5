#pragma once

#include <kernels/kernels.h>

/// The updates of a step that is not plain: rounded stochastically or toward zero, or compensated.
namespace tinymp::kernels::cpu {

/// A block of the arenas as FP32, with the updates in FP32.
struct RoundedBlock {
  std::int64_t n, begin;  ///< values, and the place of the first in the arena
  const float *w, *updates;
  float* kept;     ///< Kahan's compensation, in and out; may be null where there is none
  float* next;     ///< out: the masters; may be w
  float* weights;  ///< out: the masters rounded to the format of the weights; may be null
};

UpdateCounts move_block(const UpdateRounding& how, const UpdateWords& words, DType master, DType weights,
                        const RoundedBlock& b);

}  // namespace tinymp::kernels::cpu
