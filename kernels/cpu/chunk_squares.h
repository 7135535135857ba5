#pragma once

#include <kernels/kernels.h>

/// clip() in two parts, for processes that have a part of the gradients each and hand each other the sums of its chunks.
namespace tinymp::kernels::cpu {

/// sums:(N) in f64 = the sum of squares of factor x, for each chunk of lane_chunk values of x.
void chunk_squares(const View& x, float factor, const View& sums);

/// clip(), out of the sums of all chunks in their order. It has the bits of clip().
void clip_by_chunks(const View& sums, float max_norm, Cell<float> factor, const View& norm);

}  // namespace tinymp::kernels::cpu
