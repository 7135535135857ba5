#pragma once

#include <kernels/cuda/values.cuh>

/// Sums in the order that functions.inc fixes, so that they have the bits of the CPU: 16 lanes for each chunk
/// of 1024 values, folded by a tree; then chunk after chunk.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

inline constexpr std::int64_t chunk_size = 1024;

/// Neighbouring threads are the 16 lanes of a chunk: they read neighbouring values.
template <class C, class Term>
__global__ void sum_chunks(Term term, std::int64_t n, C* partial) {
  const std::int64_t chunk = first() / 16, begin = chunk * chunk_size;
  const int lane = static_cast<int>(threadIdx.x) % 16;
  const std::int64_t end = begin + chunk_size < n ? begin + chunk_size : n;
  C sum = 0;
  for (std::int64_t i = begin + lane; i < end; i += 16) sum += term(i);
  for (int width = 8; width > 0; width /= 2)
    sum += __shfl_down_sync(~0u, sum, static_cast<unsigned>(width), 16);
  if (lane == 0 && begin < n) partial[chunk] = sum;
}

template <class C, class Finish>
__global__ void sum_in_order(const C* partial, std::int64_t count, Finish finish) {
  C total = 0;
  for (std::int64_t i = 0; i < count; ++i) total += partial[i];
  finish(total);
}

/// finish(sum of term(i) for i < n), on the device.
template <class C, class Term, class Finish>
void reduce(Term term, std::int64_t n, Finish finish) {
  constexpr unsigned threads = 128;  // 8 chunks
  const std::int64_t chunks = (n + chunk_size - 1) / chunk_size;
  const Scratch<C> partial(chunks);
  if (n > 0) {
    launch<sum_chunks<C, Term>>(static_cast<unsigned>((chunks * 16 + threads - 1) / threads), threads, 0,
                                stream(), term, n, partial.data());
  }
  launch<sum_in_order<C, Finish>>(1, 1, 0, stream(), partial.data(), chunks, finish);
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
