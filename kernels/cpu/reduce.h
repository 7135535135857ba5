#pragma once

#include <kernels/cpu/block.h>
#include <kernels/cpu/scratch.h>
#include <array>

/// Sums that do not depend on how many threads take part: each fixed chunk is summed in 16 lanes and folded
/// by a fixed tree; the chunks' sums are added in order.
namespace tinymp::kernels::cpu {

/// The sum of term(i) for i = 0 .. n: the place of a term in its chunk chooses its lane.
template <class C, class Term>
C lane_sum(std::int64_t n, const Term& term) {
  C result;
  on_best_isa([n, term, out = &result] {
    C sums[16] = {};  // of the full rows of 16: these stay in registers
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      for (std::int64_t lane = 0; lane < 16; ++lane) sums[lane] += term(i + lane);
    }
    C fold[16];
    for (int lane = 0; lane < 16; ++lane) fold[lane] = sums[lane];
    for (std::int64_t lane = 0; i < n; ++i, ++lane) fold[lane] += term(i);
    for (int width = 8; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) fold[lane] += fold[lane + width];
    }
    *out = fold[0];
  });
  return result;
}

/// The sum of chunk(begin, n) over chunks of `length` values, added in order.
template <class Sum, class Chunk>
Sum sum_of_chunks(std::int64_t size, Chunk&& chunk, std::int64_t length = block_size) {
  const std::int64_t chunks = (size + length - 1) / length;
  const Scratch<Sum> partial(chunks);
  parallel_for(chunks, std::max<std::int64_t>(1, grain / length), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t c = first; c < last; ++c)
      partial.data()[c] = chunk(c * length, std::min(length, size - c * length));
  });
  Sum total{};
  for (std::int64_t c = 0; c < chunks; ++c) total += partial.data()[c];
  return total;
}

}  // namespace tinymp::kernels::cpu
