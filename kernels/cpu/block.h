#pragma once

#include <kernels/compute_type.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/tensor/view.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

/// How element-wise loops see 16-bit values without being written once for each format: a block of a view is
/// widened to the type that is computed in, worked on, and rounded as it is stored.
namespace tinymp::kernels::cpu {

inline constexpr std::int64_t block_size = 1024;        ///< values widened at a time: stays in the L1 cache
inline constexpr std::int64_t grain = 16 * block_size;  ///< values a thread takes at a time

template <class C>
using Block = std::array<C, block_size>;

/// Values begin .. begin + n of x as C. Points into x itself when x already holds C; else widens into
/// `block`.
template <class C>
const C* load(const View& x, std::int64_t begin, std::int64_t n, Block<C>& block) {
  if (x.dtype == dtype_of<C>) return x.data<C>() + begin;
  const auto count = static_cast<std::size_t>(n);
  visit_dtype(x.dtype, [&]<class T> {
    convert(std::span<const T>(x.data<T>() + begin, count), std::span<C>(block.data(), count));
  });
  return block.data();
}

/// Where to compute values begin .. of y: y's own memory when it holds C, else `block`, to be rounded by
/// store().
template <class C>
C* target(const View& y, std::int64_t begin, Block<C>& block) {
  return y.dtype == dtype_of<C> ? y.data<C>() + begin : block.data();
}

template <class C>
void store(const C* values, const View& y, std::int64_t begin, std::int64_t n) {
  if (y.dtype == dtype_of<C>) {
    if (values != y.data<C>() + begin) std::copy(values, values + n, y.data<C>() + begin);
    return;
  }
  const auto count = static_cast<std::size_t>(n);
  visit_dtype(y.dtype, [&]<class T> {
    convert(std::span<const C>(values, count), std::span<T>(y.data<T>() + begin, count));
  });
}

/// Rounds values to a format and back, where they are.
inline void round_to(DType dtype, float* values, std::int64_t n) {
  if (dtype == DType::f32) return;
  visit_dtype(dtype, [&]<class T> {
    std::array<T, block_size> rounded;
    const auto count = static_cast<std::size_t>(n);
    convert(std::span<const float>(values, count), std::span<T>(rounded.data(), count));
    convert(std::span<const T>(rounded.data(), count), std::span<float>(values, count));
  });
}

/// Calls body(begin, n) for blocks that cover 0 .. size, in parallel.
template <class F>
void for_blocks(std::int64_t size, F&& body) {
  parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += block_size) body(i, std::min(block_size, end - i));
  });
}

}  // namespace tinymp::kernels::cpu
