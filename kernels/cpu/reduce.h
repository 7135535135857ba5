#pragma once

#include <kernels/cpu/block.h>
#include <kernels/cpu/scratch.h>
#include <kernels/formulas/row_chunks.h>
#include <array>

/// Sums that do not depend on the number of threads: row_chunks.h fixes their order.
namespace tinymp::kernels::cpu {

/// sum_of_lanes(), 16 additions at a time.
template <class C, class Term>
C lane_sum(std::int64_t n, const Term& term) {
  C result;
  on_best_isa([n, term, out = &result] {
    C sums[sum_lanes] = {};  // sums of the full rows of 16: these stay in registers
    std::int64_t i = 0;
    for (; i + sum_lanes <= n; i += sum_lanes) {
      for (std::int64_t lane = 0; lane < sum_lanes; ++lane) sums[lane] += term(i + lane);
    }
    C fold[sum_lanes];
    for (int lane = 0; lane < sum_lanes; ++lane) fold[lane] = sums[lane];
    for (std::int64_t lane = 0; i < n; ++i, ++lane) fold[lane] += term(i);
    for (int width = sum_lanes / 2; width > 0; width /= 2) {
      for (int lane = 0; lane < width; ++lane) fold[lane] += fold[lane + width];
    }
    *out = fold[0];
  });
  return result;
}

/// sum_in_lanes().
template <class C, class Term>
C long_lane_sum(std::int64_t n, const Term& term) {
  return n <= lane_chunk ? lane_sum<C>(n, term) : sum_in_lanes<C>(n, term);
}

/// The sum of chunk(begin, n) over chunks of `length` values. Counts are added in order, numbers in lanes.
template <class Sum, class Chunk>
Sum sum_of_chunks(std::int64_t size, Chunk&& chunk, std::int64_t length = lane_chunk) {
  const std::int64_t chunks = (size + length - 1) / length;
  const Scratch<Sum> partial(chunks);
  parallel_for(chunks, std::max<std::int64_t>(1, grain / length), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t c = first; c < last; ++c)
      partial.data()[c] = chunk(c * length, std::min(length, size - c * length));
  });
  if constexpr (std::is_floating_point_v<Sum>) {
    return sum_in_lanes<Sum>(chunks, [part = partial.data()](std::int64_t c) { return part[c]; });
  } else {
    Sum total{};
    for (std::int64_t c = 0; c < chunks; ++c) total += partial.data()[c];
    return total;
  }
}

}  // namespace tinymp::kernels::cpu
