#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float4.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <cstdint>
#include <type_traits>

/// A float in a narrow format, rounded in any way. (convert.h rounds to nearest even, and fast.) CPU and GPU have
/// the same bits.
namespace tinymp {

namespace detail {
template <class T>
struct LayoutOf {
  using type = typename T::Layout;
};
/// half_codec.h is the text for half to nearest even. In the other modes half is one of the small formats.
template <>
struct LayoutOf<half> {
  using type = FloatLayout<5, 10, Specials::ieee>;
};
}  // namespace detail

/// Returns x as a T: half, bfloat16, float8_e4m3, float8_e5m2 or float4_e2m1. `random` counts for
/// Rounding::stochastic alone; small_float_codec.h defines it. Overflow says what becomes of numbers that
/// round to more than the largest number; under Rounding::toward_zero only infinity does.
template <class T>
TINYMP_HD constexpr T rounded(float x, Rounding mode, std::uint32_t random = 0,
                              Overflow overflow = Overflow::infinity) {
  using Layout = typename detail::LayoutOf<T>::type;
  return T::from_bits(small_bits_from_float<Layout>(x, overflow, mode, random));
}

/// Returns one of the two neighbours of x in the format T, at random: the nearer one is the likelier, in
/// proportion, so that the mean is x. All 2^32 values of `random` must be equally likely. A number of the format
/// never moves. Take `random` from a generator that counts (tinymp/base/rng.h), keyed by seed, step and index:
/// then a run repeats.
template <class T>
TINYMP_HD constexpr T rounded_stochastically(float x, std::uint32_t random,
                                             Overflow overflow = Overflow::infinity) {
  return rounded<T>(x, Rounding::stochastic, random, overflow);
}

}  // namespace tinymp
