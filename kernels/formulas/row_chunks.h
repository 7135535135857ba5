#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/numeric/half.h>
#include <cstdint>
#include <type_traits>

/// The order of every sum outside of products and convolutions. CPU loops and GPU kernels share this text. A
/// GPU adds with thousands of threads at a time, so no sum is one long chain unless its caller asks for that.
namespace tinymp::kernels {

// All values of a tensor, or of a row: each chunk of 1024 values is summed in 16 lanes, and a tree adds the
// lanes. Then the sums of the chunks are added in the same way.
// ----------------------------------------------------------------------------------------------------

inline constexpr int sum_lanes = 16;
inline constexpr std::int64_t lane_chunk = 1024;

/// The sum of at most 1024 terms: the place of a term chooses its lane.
template <class C, class Term>
TINYMP_HD C sum_of_lanes(std::int64_t n, const Term& term) {
  C lanes[sum_lanes] = {};
  for (std::int64_t i = 0; i < n; ++i) lanes[i % sum_lanes] += term(i);
  for (int width = sum_lanes / 2; width > 0; width /= 2) {
    for (int lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

/// The sum of term(i) for i < n.
template <class C, int levels = 3, class Term>
TINYMP_HD C sum_in_lanes(std::int64_t n, const Term& term) {
  if constexpr (levels > 0) {
    if (n > lane_chunk) {
      const auto chunk = [&](std::int64_t c) {
        const std::int64_t begin = c * lane_chunk, left = n - begin;
        return sum_of_lanes<C>(left < lane_chunk ? left : lane_chunk,
                               [&](std::int64_t i) { return term(begin + i); });
      };
      return sum_in_lanes<C, levels - 1>((n + lane_chunk - 1) / lane_chunk, chunk);
    }
  }
  return sum_of_lanes<C>(n, term);
}

// Down a column: each chunk of rows is summed in one chain. Then the sums of the chunks are added in order.
// ----------------------------------------------------------------------------------------------------

/// The number of rows in a chunk. For FP32 sums it is 128, so that threads can share the rows of a large batch.
/// An FP16 sum takes all rows in one chunk unless how.chunk is set: it shows the error of a long sum.
TINYMP_HD inline std::int64_t rows_in_chunk(const Accumulation& how, std::int64_t rows) {
  if (how.chunk != 0) return how.chunk;
  if (how.format != DType::f16) return 128;
  return rows > 0 ? rows : 1;
}

/// Rounds a sum to how.format. A sum in f64 is never rounded.
template <class C>
TINYMP_HD C kept_sum(C x, const Accumulation& how) {
  const bool narrow = std::is_same_v<C, float> && how.format == DType::f16;
  return narrow ? static_cast<C>(static_cast<float>(half(static_cast<float>(x)))) : x;
}

/// The sum of one chunk: term(i) for begin <= i < end, each addition rounded.
template <class C, class Terms>
TINYMP_HD C sum_of_chunk(std::int64_t begin, std::int64_t end, const Accumulation& how, const Terms& term) {
  C sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum = kept_sum(sum + term(i), how);
  return sum;
}

/// The sum of term(i) for i < n in chunks.
template <class C, class Terms>
TINYMP_HD C sum_in_chunks(std::int64_t n, const Accumulation& how, const Terms& term) {
  const std::int64_t chunk = rows_in_chunk(how, n);
  C total = 0;
  for (std::int64_t begin = 0; begin < n; begin += chunk) {
    const std::int64_t end = begin + chunk < n ? begin + chunk : n;
    total = kept_sum(total + sum_of_chunk<C>(begin, end, how, term), how);
  }
  return total;
}

/// The sum along a row: in lanes, unless the caller chose a format or a chunk.
template <class C, class Terms>
TINYMP_HD C sum_of_row(std::int64_t n, const Accumulation& how, const Terms& term) {
  if (how == Accumulation{}) return sum_in_lanes<C>(n, term);
  return sum_in_chunks<C>(n, how, term);
}

}  // namespace tinymp::kernels
