#pragma once

#include <tinymp/base/isa.h>
#include <tinymp/numeric/small_float_codec.h>  // for Overflow
#include <bit>
#include <cstdint>

/// Floats become E5M2, to nearest even: the same bits as small_float_codec.h, without a branch. Conversion of whole arrays
/// on the CPU calls this function; so FP8 training does.
///
///     float   s eeeeeeee fffffffffffffffffffffff      E5M2   s eeeee ff
///             1    8               23     bits               1   5    2  bits
///             bias 127                                       bias 15
namespace tinymp {

// <exercise e5m2_from_float>
/// Returns the code of the number nearest to x; of two equally near the one whose last bit is 0.
TINYMP_INLINE std::uint8_t e5m2_from_float(float x, Overflow overflow) {
  // 1. Take the float apart. The sign only moves: bit 31 to bit 7.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 24 & 0x80;
  const std::uint32_t magnitude = bits & 0x7fff'ffff;  // exponent and fraction

  // 2. Normal numbers: 21 of the 23 fraction bits are dropped, and the bias changes. What is added first rounds: a bit
  //    less than half of the last place, and the last bit itself. A carry goes into the exponent, as it should.
  const std::uint32_t last = magnitude >> 21 & 1;
  const std::uint32_t normal = ((magnitude + 0x000f'ffff + last) >> 21) - ((127 - 15) << 2);

  // 3. Below 2^-14 the code counts steps of 2^-16. Floats from 2^7 on lie 2^-16 apart, so this addition rounds.
  const float lifted = std::bit_cast<float>(magnitude) + 0x1p7f;
  const std::uint32_t steps = std::bit_cast<std::uint32_t>(lifted) - std::bit_cast<std::uint32_t>(0x1p7f);

  // 4. Choose. 0x7b is 57344, the largest number, 0x7c infinity, 0x7e NaN. A mask chooses where compilers would make a
  //    branch of a `?:`, and then one code at a time.
  const std::uint32_t is_normal = magnitude >= std::bit_cast<std::uint32_t>(0x1p-14f) ? ~0u : 0u;
  const std::uint32_t code = (normal & is_normal) | (steps & ~is_normal);
  const std::uint32_t excess = overflow == Overflow::saturate ? 0x7b : 0x7c;
  const std::uint32_t number = code > 0x7b ? excess : code;
  const bool is_nan = magnitude > 0x7f80'0000;
  return static_cast<std::uint8_t>((is_nan ? 0x7e : number) | (is_nan ? 0 : sign));
}
// </exercise e5m2_from_float>

}  // namespace tinymp
