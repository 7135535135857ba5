#pragma once

#include <tinymp/base/host_device.h>
#include <bit>
#include <cstdint>
#include <type_traits>

/// bfloat16 and the two FP8 formats to and from binary32 (`float`), by bits. One text for all of them: a
/// format is three choices, and half_codec.h is this text with those of binary16 written out.
///
///                   sign exponent fraction   bias   largest        smallest normal   smallest subnormal
///     bfloat16         s eeeeeeee fffffff     127   3.39 * 10^38   2^-126            2^-133
///     float8_e5m2      s eeeee ff              15   57344          2^-14             2^-16
///     float8_e4m3      s eeee fff               7   448            2^-6              2^-9
///
/// bfloat16 is the upper half of a float. The FP8 formats are those of Micikevicius et al., "FP8 formats for
/// deep learning" (arXiv 2209.05433), and of the OCP 8-bit Floating Point Specification 1.0.
///
/// These two functions *are* the formats: every other path has to give the same bits. There is one NaN, its
/// sign bit 0, whatever sign and payload came in.
namespace tinymp {

/// What the codes with an exponent of all ones are.
enum class Specials : std::uint8_t {
  ieee,     ///< infinity where the fraction is 0, else NaN
  one_nan,  ///< ordinary numbers, but for the last code of each sign, NaN. There is no infinity ("fn")
};

/// What becomes of a value that rounds to more than the largest number. NaN becomes NaN under both.
enum class Overflow : std::uint8_t {
  infinity,  ///< infinity, as IEEE 754 asks; NaN where the format has no infinity. Infinity itself likewise
  saturate,  ///< the largest number of the same sign. Infinity too, as of CUDA's __NV_SATFINITE
};

template <int ExponentBits, int FractionBits, Specials specials>
struct FloatLayout {
  static constexpr int exponent_bits = ExponentBits, fraction_bits = FractionBits;
  static constexpr int width = 1 + exponent_bits + fraction_bits;
  static constexpr bool has_infinity = specials == Specials::ieee;
  using Bits = std::conditional_t<(width > 8), std::uint16_t, std::uint8_t>;
  static_assert(width == 8 || width == 16);

  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int smallest_exponent = 1 - bias;  ///< of normal numbers; subnormals share it
  static constexpr int largest_exponent = has_infinity ? bias : bias + 1;

  static constexpr Bits sign_bit = 1 << (width - 1);
  static constexpr Bits all_ones = sign_bit - 1;                                ///< 0 1111 111
  static constexpr Bits exponent_ones = all_ones ^ ((1 << fraction_bits) - 1);  ///< 0 1111 000
  static constexpr Bits largest = has_infinity ? exponent_ones - 1 : all_ones - 1;
  static constexpr Bits nan = has_infinity ? exponent_ones | (1 << (fraction_bits - 1)) : all_ones;
  static constexpr Bits too_large =
      has_infinity ? exponent_ones : nan;  ///< Overflow::infinity, but for the sign
};

/// 2^exponent, for every float that it is, subnormals included.
TINYMP_HD constexpr float power_of_two(int exponent) {
  if (exponent < -126) return std::bit_cast<float>(1u << (exponent + 149));
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// Which of the two numbers beside it stands for one that the format does not have.
enum class Rounding : std::uint8_t {
  nearest_even,  ///< the nearer; from the middle the one whose last bit is 0
  toward_zero,
  up,          ///< toward +infinity
  down,        ///< toward -infinity
  stochastic,  ///< by lot: the farther from zero as often as the number is near to it
};

// <exercise rounding_modes>
/// A number in sign and magnitude loses the last `drop` bits of its magnitude, 1 to 31: what is left of that,
/// rounded. Of `random`, for Rounding::stochastic, the last `drop` bits count.
TINYMP_HD constexpr std::uint32_t without_last_bits(std::uint32_t magnitude, int drop, bool negative,
                                                    Rounding mode = Rounding::nearest_even,
                                                    std::uint32_t random = 0) {
  const std::uint32_t kept = magnitude >> drop, lost = (1u << drop) - 1;
  const std::uint32_t rest = magnitude & lost, halfway = 1u << (drop - 1);
  const bool away_from_zero = mode == Rounding::nearest_even
                                  ? rest > halfway || (rest == halfway && (kept & 1) == 1)
                              : mode == Rounding::up         ? rest != 0 && !negative
                              : mode == Rounding::down       ? rest != 0 && negative
                              : mode == Rounding::stochastic ? (random & lost) < rest
                                                             : false;
  return away_from_zero ? kept + 1 : kept;
}
// </exercise rounding_modes>

/// The number of the format nearest to x; of two equally near the one whose last bit is 0 ("nearest even").
template <class Layout>
TINYMP_HD constexpr typename Layout::Bits small_bits_from_float(float x, Overflow overflow) {
  using Bits = typename Layout::Bits;

  // 1. Take the float apart.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 31 << (Layout::width - 1);
  const std::uint32_t magnitude = bits & 0x7fff'ffff;      // exponent and fraction
  const int exponent = static_cast<int>(magnitude >> 23);  // still with bias 127
  const std::uint32_t fraction = magnitude & 0x007f'ffff;

  // 2. NaN; and what is too large whatever the rounding, infinity with it.
  if (magnitude > 0x7f80'0000) return Layout::nan;
  const bool saturate = overflow == Overflow::saturate;
  const std::uint32_t excess = saturate ? Layout::largest : Layout::too_large;
  // The one NaN has no sign.
  const std::uint32_t excess_sign = saturate || Layout::has_infinity ? sign : 0;
  if (exponent > 127 + Layout::largest_exponent) return static_cast<Bits>(excess_sign | excess);

  // 3. What is too small: below half of the smallest subnormal.
  if (exponent < 127 + Layout::smallest_exponent - Layout::fraction_bits - 1) return static_cast<Bits>(sign);

  // 4. Line up: `aligned` shifted right by `drop` bits is the exponent and fraction, unrounded.
  std::uint32_t aligned = magnitude - (static_cast<std::uint32_t>(127 - Layout::bias) << 23);
  int drop = 23 - Layout::fraction_bits;
  const int smallest_normal = 127 + Layout::smallest_exponent;
  if (exponent <
      smallest_normal) {  // subnormal: the leading 1 is written out, one more bit falls off for each
    aligned = fraction;   // power of two; but a float that is subnormal itself (for bfloat16) has no
    if (exponent > 0) {   // leading 1, and the exponents agree
      aligned |= 1u << 23;
      drop += smallest_normal - exponent;
    }
  }

  // 5. Round. A carry out of the fraction runs into the exponent, which is right.
  const std::uint32_t kept = without_last_bits(aligned, drop, sign != 0);

  if (kept > Layout::largest) return static_cast<Bits>(excess_sign | excess);
  return static_cast<Bits>(sign | kept);
}

/// The float with the value of the code: every one is a float, nothing is rounded.
template <class Layout>
TINYMP_HD constexpr float float_from_small_bits(typename Layout::Bits bits) {
  // 1. Take it apart.
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> (Layout::width - 1)) << 31;
  const std::uint32_t magnitude = bits & Layout::all_ones;
  const std::uint32_t exponent = magnitude >> Layout::fraction_bits;
  const std::uint32_t fraction = magnitude & ((1u << Layout::fraction_bits) - 1);

  // 2. Infinity and NaN: what lies above the largest number.
  if (Layout::has_infinity && magnitude == Layout::exponent_ones)
    return std::bit_cast<float>(sign | 0x7f80'0000u);
  if (magnitude > Layout::largest) return std::bit_cast<float>(0x7fc0'0000u);

  // 3. Zero and the subnormals count in steps of the smallest one.
  if (exponent == 0) {
    const float step = power_of_two(Layout::smallest_exponent - Layout::fraction_bits);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(fraction) * step));
  }

  // 4. Normal: change the bias, move the fraction to the top of its wider field.
  const std::uint32_t widened = exponent + static_cast<std::uint32_t>(127 - Layout::bias);
  return std::bit_cast<float>(sign | (widened << 23) | (fraction << (23 - Layout::fraction_bits)));
}

}  // namespace tinymp
