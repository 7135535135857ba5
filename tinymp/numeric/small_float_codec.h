#pragma once

#include <tinymp/base/host_device.h>
#include <bit>
#include <cstdint>
#include <type_traits>

/// bfloat16, the two FP8 formats and FP4 to and from binary32 (`float`), by bits. One text serves all of them,
/// because a format is three parameters. half_codec.h is the same text with the parameters of binary16, to
/// nearest even only.
///
///                   sign exponent fraction   bias   largest        smallest normal   smallest subnormal
///     bfloat16         s eeeeeeee fffffff     127   3.39 * 10^38   2^-126            2^-133
///     float8_e5m2      s eeeee ff              15   57344          2^-14             2^-16
///     float8_e4m3      s eeee fff               7   448            2^-6              2^-9
///     float4_e2m1      s ee f                   1   6              1                 0.5
///
/// bfloat16 is the upper half of a float. The FP8 formats are those of Micikevicius et al., "FP8 formats for
/// deep learning" (arXiv 2209.05433), and of the OCP 8-bit Floating Point Specification 1.0. FP4 is the one of
/// the OCP Microscaling Formats Specification 1.0, section 5.3.3.
///
/// These two functions define the formats: every other path must give the same bits. Every NaN becomes the
/// one NaN of the format, with sign bit 0; its sign and payload are lost. FP4 has no NaN, and takes the code of
/// its largest number, 0x7, instead.
namespace tinymp {

/// The meaning of the codes whose exponent bits are all ones.
enum class Specials : std::uint8_t {
  ieee,     ///< infinity where the fraction is 0, else NaN
  one_nan,  ///< ordinary numbers, and NaN for the last code of each sign. There is no infinity ("fn")
  none,     ///< ordinary numbers: neither infinity nor NaN. Every overflow saturates
};

/// The result for a value that rounds to more than the largest number. NaN stays NaN under both.
enum class Overflow : std::uint8_t {
  infinity,  ///< infinity, as in IEEE 754, or NaN in a format without infinity; the same for infinity itself
  saturate,  ///< the largest number of the same sign, for infinity too, as CUDA's __NV_SATFINITE has it
};

template <int ExponentBits, int FractionBits, Specials specials>
struct FloatLayout {
  static constexpr int exponent_bits = ExponentBits, fraction_bits = FractionBits;
  static constexpr int width = 1 + exponent_bits + fraction_bits;
  static constexpr bool has_infinity = specials == Specials::ieee;
  static constexpr bool has_nan = specials != Specials::none;
  using Bits = std::conditional_t<(width > 8), std::uint16_t, std::uint8_t>;
  static_assert(width == 4 || width == 8 || width == 16);  // 4 bits are the last ones of a byte

  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;
  static constexpr int smallest_exponent = 1 - bias;  ///< of normal numbers; subnormals have it too
  static constexpr int largest_exponent = has_infinity ? bias : bias + 1;

  static constexpr Bits sign_bit = 1 << (width - 1);
  static constexpr Bits all_ones = sign_bit - 1;                                ///< 0 1111 111
  static constexpr Bits exponent_ones = all_ones ^ ((1 << fraction_bits) - 1);  ///< 0 1111 000
  static constexpr Bits largest = has_infinity ? exponent_ones - 1 : has_nan ? all_ones - 1 : all_ones;
  static constexpr Bits nan = has_infinity ? exponent_ones | (1 << (fraction_bits - 1)) : all_ones;
  /// The result of Overflow::infinity, without the sign. (For Specials::none that is the largest number.)
  static constexpr Bits too_large = has_infinity ? exponent_ones : nan;
};

/// 2^exponent as a float, for every exponent that float has, subnormals included.
TINYMP_HD constexpr float power_of_two(int exponent) {
  if (exponent < -126) return std::bit_cast<float>(1u << (exponent + 149));
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

/// How a value between two neighbouring numbers of a format becomes one of the two.
enum class Rounding : std::uint8_t {
  nearest_even,  ///< the nearer one; in the middle, the one whose last bit is 0
  toward_zero,
  up,          ///< toward +infinity
  down,        ///< toward -infinity
  stochastic,  ///< at random: the nearer one of the two is the likelier, in proportion
};

// <exercise rounding_modes>
/// Returns `magnitude` without its last `drop` bits, 1 to 31, rounded. `negative` is the sign of the number.
/// Rounding::stochastic uses the first `drop` bits of `random`: a random fraction, written as far as needed.
TINYMP_HD constexpr std::uint32_t without_last_bits(std::uint32_t magnitude, int drop, bool negative,
                                                    Rounding mode = Rounding::nearest_even,
                                                    std::uint32_t random = 0) {
  const std::uint32_t kept = magnitude >> drop, lost = (1u << drop) - 1;
  const std::uint32_t rest = magnitude & lost, halfway = 1u << (drop - 1);
  const bool away_from_zero = mode == Rounding::nearest_even
                                  ? rest > halfway || (rest == halfway && (kept & 1) == 1)
                              : mode == Rounding::up         ? rest != 0 && !negative
                              : mode == Rounding::down       ? rest != 0 && negative
                              : mode == Rounding::stochastic ? random >> (32 - drop) < rest
                                                             : false;
  return away_from_zero ? kept + 1 : kept;
}
// </exercise rounding_modes>

namespace detail {
/// True when the mode never takes a finite number of this sign past the largest number of a format.
TINYMP_HD constexpr bool stops_at_largest(Rounding mode, bool negative) {
  return mode == Rounding::toward_zero || (mode == Rounding::up && negative) ||
         (mode == Rounding::down && !negative);
}

/// Rounds 0.f, a number below half of the smallest subnormal: returns 0 or 1 times that subnormal. `significand`
/// is below 2^24 and has `drop` bits after the point, 25 or more. without_last_bits() cannot do this, because a
/// random number of 32 bits decides here about numbers of more bits. The bits behind the 32nd are cut off.
TINYMP_HD constexpr std::uint32_t rounded_below_half(std::uint32_t significand, int drop, bool negative,
                                                     Rounding mode, std::uint32_t random) {
  if (mode == Rounding::up || mode == Rounding::down)
    return significand != 0 && (mode == Rounding::up) != negative ? 1 : 0;
  if (mode != Rounding::stochastic || drop >= 32 + 24) return 0;
  const std::uint32_t fraction = drop <= 32 ? significand << (32 - drop) : significand >> (drop - 32);
  return random < fraction ? 1 : 0;
}
}  // namespace detail

/// Returns x rounded to a number of the format. Without a mode that is the nearest number; in the middle, the
/// one whose last bit is 0 ("nearest even").
///
/// Rounding::stochastic: lo and hi are the neighbours of |x| in the format. The result is hi when
///     random < floor(2^32 (|x| - lo) / (hi - lo))
/// so of all 2^32 values of `random` as many lead to hi as the distance from lo says, and the mean of all
/// results is x. (Croci et al., "Stochastic rounding: implementation, error analysis and applications", 2022.)
/// Subnormals have the same rule, and a number of the format never moves. Above the largest number M, hi is M + (M - the number before
/// M); whatever becomes this hi, or lies above it, overflows.
///
/// Overflow::infinity: toward_zero takes M for every finite x beyond M, as do up and down on one side; infinity
/// stays. In a format without infinity that is NaN.
template <class Layout>
TINYMP_HD constexpr typename Layout::Bits small_bits_from_float(float x, Overflow overflow,
                                                                Rounding mode = Rounding::nearest_even,
                                                                std::uint32_t random = 0) {
  using Bits = typename Layout::Bits;

  // 1. Take the float apart.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 31 << (Layout::width - 1);
  const std::uint32_t magnitude = bits & 0x7fff'ffff;      // exponent and fraction
  const int exponent = static_cast<int>(magnitude >> 23);  // still with bias 127
  const std::uint32_t fraction = magnitude & 0x007f'ffff;

  // 2. NaN; and values too large under any rounding, infinity included.
  if (magnitude > 0x7f80'0000) return Layout::nan;
  const bool saturate = overflow == Overflow::saturate || !Layout::has_nan ||
                        (magnitude != 0x7f80'0000 && detail::stops_at_largest(mode, sign != 0));
  const std::uint32_t excess = saturate ? Layout::largest : Layout::too_large;
  // The one NaN has no sign.
  const std::uint32_t excess_sign = saturate || Layout::has_infinity ? sign : 0;
  if (exponent > 127 + Layout::largest_exponent) return static_cast<Bits>(excess_sign | excess);

  // 3. Values too small: below half of the smallest subnormal. A float that is subnormal itself is far below.
  const int smallest_normal = 127 + Layout::smallest_exponent;
  if (exponent < smallest_normal - Layout::fraction_bits - 1) {
    const std::uint32_t significand = exponent > 0 ? fraction | 1u << 23 : fraction;
    const int drop = 23 - Layout::fraction_bits + smallest_normal - (exponent > 0 ? exponent : 1);
    return static_cast<Bits>(sign | detail::rounded_below_half(significand, drop, sign != 0, mode, random));
  }

  // 4. Line up: `aligned` shifted right by `drop` bits is the exponent and fraction, unrounded.
  std::uint32_t aligned = magnitude - (static_cast<std::uint32_t>(127 - Layout::bias) << 23);
  int drop = 23 - Layout::fraction_bits;
  // A subnormal: the leading 1 is written out, and one more bit is dropped for each power of two. A float
  // that is subnormal itself (for bfloat16) has no leading 1, and the exponents agree.
  if (exponent < smallest_normal) {
    aligned = fraction;
    if (exponent > 0) {
      aligned |= 1u << 23;
      drop += smallest_normal - exponent;
    }
  }

  // 5. Round. A carry out of the fraction goes into the exponent, as it should.
  const std::uint32_t kept = without_last_bits(aligned, drop, sign != 0, mode, random);

  if (kept > Layout::largest) return static_cast<Bits>(excess_sign | excess);
  return static_cast<Bits>(sign | kept);
}

/// Returns the float with the value of the code. Float holds every value, so nothing is rounded.
template <class Layout>
TINYMP_HD constexpr float float_from_small_bits(typename Layout::Bits bits) {
  // 1. Take it apart.
  const std::uint32_t sign = static_cast<std::uint32_t>(bits >> (Layout::width - 1)) << 31;
  const std::uint32_t magnitude = bits & Layout::all_ones;
  const std::uint32_t exponent = magnitude >> Layout::fraction_bits;
  const std::uint32_t fraction = magnitude & ((1u << Layout::fraction_bits) - 1);

  // 2. Infinity and NaN: the codes above the largest number.
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
