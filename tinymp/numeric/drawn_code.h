#pragma once

#include <tinymp/base/isa.h>
#include <tinymp/numeric/small_float_codec.h>
#include <algorithm>
#include <bit>
#include <cstdint>

/// small_float_codec.h without a branch, for loops: compilers make 8 or 16 codes at a time. The same bits.
namespace tinymp::detail {

/// The code that stands for a magnitude: `code`, or what an overflow gives; with the sign.
template <class Layout>
TINYMP_INLINE constexpr typename Layout::Bits finished_code(std::uint32_t code, std::uint32_t bits,
                                                            bool stays) {
  const std::uint32_t excess = stays ? Layout::largest : Layout::too_large;
  const std::uint32_t excess_sign =
      stays || Layout::has_infinity ? Layout::sign_bit : 0;  // the one NaN has none
  const bool overflows = code > Layout::largest;
  const std::uint32_t magnitude = overflows ? excess : code;
  const std::uint32_t sign =
      bits >> (32 - Layout::width) & (overflows ? excess_sign : std::uint32_t{Layout::sign_bit});
  return static_cast<typename Layout::Bits>((bits & 0x7fff'ffff) > 0x7f80'0000 ? std::uint32_t{Layout::nan}
                                                                               : magnitude | sign);
}

/// The code of x, rounded stochastically or toward zero.
template <class Layout, bool stochastic>
TINYMP_INLINE constexpr typename Layout::Bits drawn_code(float x, std::uint32_t random, bool saturates) {
  constexpr std::uint32_t smallest_normal = 127 + Layout::smallest_exponent;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), magnitude = bits & 0x7fff'ffff,
                      field = magnitude >> 23;
  const std::uint32_t exponent = field > 0 ? field : 1;
  const std::uint32_t significand = (magnitude & 0x007f'ffff) | (field > 0 ? 1u << 23 : 0u);
  const std::uint32_t normal = std::max(exponent, smallest_normal);
  const std::uint32_t shift = normal - exponent, above = normal - smallest_normal;
  // What lies behind the last bit that is kept, as a fraction of 2^32. The significand is below 2^24, so a shift by 31
  // stands for all from 24 on.
  const std::uint32_t drop = 23 - Layout::fraction_bits + shift;
  const std::uint32_t part = std::min(drop, 32u);
  const std::uint32_t fraction = significand << (32 - part) >> std::min(drop - part, 31u);
  std::uint32_t code = (significand >> std::min(drop, 31u)) + (above << Layout::fraction_bits);
  if constexpr (stochastic) code += random < fraction;
  return finished_code<Layout>(code, bits, saturates || (!stochastic && magnitude != 0x7f80'0000));
}

}  // namespace tinymp::detail
