#pragma once

#include <kernels/cuda/values.h>
#include <kernels/formulas/row_chunks.h>

/// Sums of all values in the order of row_chunks.h, so that they have the bits of the CPU.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// sum_of_lanes() by 16 neighbouring threads, in the first of them: they read neighbouring values.
template <class C, class Term>
__device__ C sum_of_threads(const Term& term, std::int64_t begin, std::int64_t n) {
  const std::int64_t end = begin + lane_chunk < n ? begin + lane_chunk : n;
  C sum = 0;
  for (std::int64_t i = begin + threadIdx.x % sum_lanes; i < end; i += sum_lanes) sum += term(i);
  for (int width = sum_lanes / 2; width > 0; width /= 2)
    sum += __shfl_down_sync(~0u, sum, static_cast<unsigned>(width), sum_lanes);
  return sum;
}

/// partial[c] = the sum of chunk c
template <class C, class Term>
__global__ void sum_chunks(Term term, std::int64_t n, C* partial) {
  const std::int64_t chunk = first() / sum_lanes, begin = chunk * lane_chunk;
  const C sum = sum_of_threads<C>(term, begin, n);
  if (threadIdx.x % sum_lanes == 0 && begin < n) partial[chunk] = sum;
}

/// One warp, for the last chunk that is left.
template <class C, class Term, class Finish>
__global__ void sum_last_chunk(Term term, std::int64_t n, Finish finish) {
  const C sum = sum_of_threads<C>(term, 0, n);
  __syncwarp();  // a term may read what finish writes, as the factor of gradients that are clipped
  if (threadIdx.x == 0) finish(sum);
}

/// Terms that lie in memory.
template <class C>
struct Partial {
  const C* sums;
  __device__ C operator()(std::int64_t i) const { return sums[i]; }
};

/// finish(sum of term(i) for i < n), on the device.
template <class C, class Term, class Finish>
void reduce(Term term, std::int64_t n, Finish finish) {
  if (n <= lane_chunk) {
    launch<sum_last_chunk<C, Term, Finish>>(1, 32, 0, stream(), term, n, finish);
    return;
  }
  constexpr unsigned threads = 128;  // 8 chunks
  const std::int64_t chunks = (n + lane_chunk - 1) / lane_chunk;
  const Scratch<C> partial(chunks);
  launch<sum_chunks<C, Term>>(static_cast<unsigned>((chunks * sum_lanes + threads - 1) / threads), threads, 0,
                              stream(), term, n, partial.data());
  reduce<C>(Partial<C>{partial.data()}, chunks, finish);
}

/// The terms of a plain sum.
template <class C>
struct EachValue {
  Values x;
  __device__ C operator()(std::int64_t i) const { return x.get<C>(i); }
};

/// Stores a sum, divided.
template <class C>
struct StoreShare {
  Values y;
  C divisor;
  __device__ void operator()(C total) const { y.set(0, total / divisor); }
};

/// A count over a warp, in its first lane.
__device__ inline unsigned long long warp_sum(unsigned long long count) {
  for (unsigned width = 16; width > 0; width /= 2) count += __shfl_down_sync(~0u, count, width);
  return count;
}

/// How many values a thread looks at before it adds its count to all others'.
inline constexpr std::int64_t values_counted = 16;

/// Adds the counts of all threads to `total`; every thread of the warp calls it.
__device__ inline void add_count(std::int64_t* total, std::int64_t count) {
  const unsigned long long sum = warp_sum(static_cast<unsigned long long>(count));
  if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(reinterpret_cast<unsigned long long*>(total), sum);
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
