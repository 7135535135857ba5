#pragma once

#include <kernels/cuda/values.h>
#include <initializer_list>

/// What memory bounds: a thread moves eight neighbouring values, 16 bytes an instruction, in a format that the
/// compiler knows. A GPU is busy when enough bytes are under way: on an H200 22 KB for each multiprocessor, and 2048
/// threads with one load of 16 bytes each make 32.
namespace tinymp::kernels::TINYMP_EXECUTOR {

inline constexpr int pack_values = 8;

/// Neighbours. Eight take 1 load of 16 bytes in formats of 16 bits, 2 as float, 4 as double.
template <class T, int count = pack_values>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Pack {
  T at[count];
};

template <int count = pack_values, class T>
__device__ inline Pack<T, count> load_pack(const T* x, std::int64_t pack) {
  return reinterpret_cast<const Pack<T, count>*>(x)[pack];
}
template <class T, int count>
__device__ inline void store_pack(T* x, std::int64_t pack, const Pack<T, count>& values) {
  reinterpret_cast<Pack<T, count>*>(x)[pack] = values;
}

/// How n values divide: whole packs, then single values.
struct Packs {
  std::int64_t whole, single, n;  ///< packs; the first single value; all values
};

/// A view of a slice may begin anywhere; then all values are single.
inline Packs packs_of(std::int64_t n, std::initializer_list<const void*> memory, int count = pack_values) {
  const bool aligned = std::ranges::all_of(
      memory, [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; });
  const std::int64_t whole = aligned ? n / count : 0;
  return {whole, whole * count, n};
}

/// Packs of a matrix that lie in one row each.
inline Packs packs_in_rows(std::int64_t n, std::int64_t columns, std::initializer_list<const void*> memory) {
  return columns % pack_values == 0 ? packs_of(n, memory) : Packs{0, 0, n};
}

inline unsigned blocks_for(const Packs& packs) { return blocks_for(packs.whole > 0 ? packs.whole : packs.n); }

/// Calls pack(p) for each pack and single(i) for each single value, over the whole grid.
template <class OfPack, class OfSingle>
__device__ void for_packs(const Packs& packs, const OfPack& pack, const OfSingle& single) {
  TINYMP_ROLLED
  for (std::int64_t p = first(); p < packs.whole; p += stride()) pack(p);
  TINYMP_ROLLED
  for (std::int64_t i = packs.single + first(); i < packs.n; i += stride()) single(i);
}

/// Calls work.at<pack_values>(p) for pack p and work.at<1>(i) for single value i: the same text serves both.
template <class Work>
__global__ void for_each_pack(Work work, Packs packs) {
  for_packs(
      packs, [&](std::int64_t p) { work.template at<pack_values>(p); },
      [&](std::int64_t i) { work.template at<1>(i); });
}
template <class Work>
void launch_packs(const Work& work, const Packs& packs) {
  launch<for_each_pack<Work>>(blocks_for(packs), block_threads, 0, stream(), work, packs);
}

/// float for f16, bf16 and f32, double for f64.
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, double>, double, float>;

inline void expect_one_format(const View& x, const View& y) {
  expect(x.dtype == y.dtype, "this kernel takes tensors of one format, not ", x.dtype, " and ", y.dtype,
         "; cast one of them");
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
