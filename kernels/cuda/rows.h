#pragma once

#include <kernels/cuda/values.h>
#include <kernels/formulas/along_row.h>

/// Rows of a matrix, sixteen neighbouring threads each: as many as a sum has lanes (row_chunks.h), so that each thread
/// adds up one lane and the bits are those of the CPU. Neighbours read neighbours.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

inline constexpr std::int64_t row_threads = sum_lanes;

inline unsigned blocks_for_rows(std::int64_t rows) { return blocks_for(rows * row_threads); }

/// Calls work(row) for each row, in all sixteen threads of the row.
template <class Work>
__device__ void for_rows(std::int64_t rows, const Work& work) {
  for (std::int64_t b = first() / row_threads; b < rows; b += stride() / row_threads) work(b);
}

/// True in the thread that writes what a row has only one of.
__device__ inline bool is_first_of_row() { return threadIdx.x % sum_lanes == 0; }

/// What formulas need to know of a row (formulas/along_row.h). All sixteen threads get each result.
struct BySixteen {
  __device__ static int lane() { return static_cast<int>(threadIdx.x % sum_lanes); }
  __device__ static unsigned mask() { return 0xffffu << (threadIdx.x / sum_lanes % 2 * sum_lanes); }

  template <class C>
  __device__ static C from_first(C x) {
    return __shfl_sync(mask(), x, 0, sum_lanes);
  }

  /// The tree of sum_of_lanes().
  template <class C>
  __device__ static C fold(C sum) {
    for (int width = sum_lanes / 2; width > 0; width /= 2)
      sum += __shfl_down_sync(mask(), sum, static_cast<unsigned>(width), sum_lanes);
    return from_first(sum);
  }

  /// sum_in_lanes(): chunks of 1024 terms, then the sums of those chunks in the same way.
  template <class C, class Term>
  __device__ static C sum_lanes_of(std::int64_t n, const Term& term) {
    const auto chunk = [&](std::int64_t c) {
      const std::int64_t begin = c * lane_chunk, end = begin + lane_chunk < n ? begin + lane_chunk : n;
      C sum = 0;
      for (std::int64_t i = begin + lane(); i < end; i += sum_lanes) sum += term(i);
      return fold(sum);
    };
    if (n <= lane_chunk) return chunk(0);
    return sum_of_shared<C, 2>((n + lane_chunk - 1) / lane_chunk, chunk);
  }

  /// The same where all sixteen threads make each term.
  template <class C, int levels, class Term>
  __device__ static C sum_of_shared(std::int64_t n, const Term& term) {
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      C sum = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        const C x = term(i);
        if ((i - begin) % sum_lanes == lane()) sum += x;
      }
      return fold(sum);
    };
    if constexpr (levels > 0) {
      if (n > lane_chunk) {
        return sum_of_shared<C, levels - 1>((n + lane_chunk - 1) / lane_chunk, [&](std::int64_t c) {
          const std::int64_t begin = c * lane_chunk;
          return part(begin, begin + lane_chunk < n ? begin + lane_chunk : n);
        });
      }
    }
    return part(0, n);
  }

  /// A sum whose caller chose another order is one thread's.
  template <class C, class Term>
  __device__ static C sum(std::int64_t n, const Accumulation& how, const Term& term) {
    if (how == Accumulation{}) return sum_lanes_of<C>(n, term);
    return from_first(lane() == 0 ? sum_in_chunks<C>(n, how, term) : C(0));
  }

  /// The first of equal values (0 and -0), as one thread would find it.
  template <class C, class Row>
  __device__ static C largest(const Row& x, std::int64_t n) {
    std::int64_t place = lane() < n ? lane() : 0;
    C top = x[place];
    bool any_nan = top != top;
    for (std::int64_t i = place; i < n; i += sum_lanes) {
      const C v = x[i];
      any_nan |= v != v;
      if (v > top) top = v, place = i;
    }
    for (int width = sum_lanes / 2; width > 0; width /= 2) {
      const auto delta = static_cast<unsigned>(width);
      const C other = __shfl_down_sync(mask(), top, delta, sum_lanes);
      const std::int64_t there = __shfl_down_sync(mask(), place, delta, sum_lanes);
      any_nan |= __shfl_down_sync(mask(), static_cast<int>(any_nan), delta, sum_lanes) != 0;
      if (other > top || (other == top && there < place)) top = other, place = there;
    }
    return from_first(any_nan ? std::numeric_limits<C>::quiet_NaN() : top);
  }

  template <class Work>
  __device__ static void each(std::int64_t n, const Work& work) {
    for (std::int64_t i = lane(); i < n; i += sum_lanes) work(i);
  }
};

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
