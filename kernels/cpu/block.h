#pragma once

#include <kernels/compute_type.h>
#include <tinymp/base/isa.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/tensor/view.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

/// Element-wise loops over 16-bit values without a copy of the loop for each format: a block of a view is
/// widened to the type of the computation, worked on, and rounded when it is stored.
namespace tinymp::kernels::cpu {

inline constexpr std::int64_t block_size = 1024;        ///< values widened at a time: stays in the L1 cache
inline constexpr std::int64_t grain = 16 * block_size;  ///< values a thread takes at a time

template <class C>
using Block = std::array<C, block_size>;

/// Writes values begin .. begin + n of x to `out`, as C: float or double. Defined in block.cpp, once for all kernels.
template <class C>
void read(const View& x, std::int64_t begin, std::int64_t n, C* out);

/// Values begin .. begin + n of x as C. Points into x itself when x already holds C; else widens into
/// `block`.
template <class C>
const C* load(const View& x, std::int64_t begin, std::int64_t n, Block<C>& block) {
  if (x.dtype == dtype_of<C>) return x.data<C>() + begin;
  read(x, begin, n, block.data());
  return block.data();
}

/// The memory in which values begin .. of y are computed: y's own when it holds C, else `block`, which
/// store() rounds.
template <class C>
C* target(const View& y, std::int64_t begin, Block<C>& block) {
  return y.dtype == dtype_of<C> ? y.data<C>() + begin : block.data();
}

/// Rounds n values to the format of y, and writes them there from `begin` on. Values that lie there already stay.
template <class C>
void store(const C* values, const View& y, std::int64_t begin, std::int64_t n);

/// Rounds values to a format and back, in place.
inline void round_to(DType format, float* values, std::int64_t n) {
  tinymp::round_to(format, std::span<float>(values, static_cast<std::size_t>(n)));
}
inline void round_to(DType, double*, std::int64_t) {}

/// Calls f(i) for i = 0 .. n. No call reads what another one writes. f captures by value. For f64, which only
/// gradient checks use, one copy of the loop is enough.
template <class C, class F>
void for_each_value(std::int64_t n, const F& f) {
  if constexpr (std::is_same_v<C, double>) {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  } else {
    on_best_isa([=] {
      TINYMP_INDEPENDENT_ROUNDS
      for (std::int64_t i = 0; i < n; ++i) f(i);
    });
  }
}

/// Calls body(begin, n) for pieces that cover 0 .. size, in parallel. A piece is one block when a view has to
/// be widened or rounded. Otherwise nothing has to stay in a cache, and a piece is everything that a thread
/// takes.
template <class C, class F, class... Views>
void for_blocks(std::int64_t size, F&& body, const Views&... views) {
  const std::int64_t piece = ((views.dtype == dtype_of<C>)&&...) ? grain : block_size;
  parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += piece) body(i, std::min(piece, end - i));
  });
}

}  // namespace tinymp::kernels::cpu
