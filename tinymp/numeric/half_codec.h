#pragma once

#include <tinymp/base/host_device.h>
#include <bit>
#include <cstdint>

/// binary16 ("half", FP16) to and from binary32 (`float`), by bits. IEEE 754-2019, section 3.4.
///
///     float   s eeeeeeee fffffffffffffffffffffff      half   s eeeee ffffffffff
///             1    8               23     bits               1   5       10     bits
///             bias 127                                       bias 15
///
///     e = 0          (-1)^s * 0.f * 2^-14         zero and the subnormals, 2^-24 apart
///     e = 1 .. 30    (-1)^s * 1.f * 2^(e - 15)    normal numbers, 2^-14 to 65504
///     e = 31         infinity when f = 0, else NaN
///
/// These two functions define the format: every other path of the library (bulk conversion, kernels) must
/// give the same bits. Every NaN becomes the one NaN 0b0'11111'1000000000
/// (0x7e00); its sign and payload are lost.
namespace tinymp {

/// True when the two functions below agree with the F16C instructions of the machine; bulk conversion may
/// then use the instructions. Set it to false in a codec that rounds differently,
/// so that its functions are called.
inline constexpr bool matches_f16c = true;

// <exercise float_to_half>
/// The half nearest to x; of two equally near the one whose last bit is 0 ("nearest even").
TINYMP_HD constexpr std::uint16_t half_bits_from_float(float x) {
  // 1. Take the float apart. The sign only moves: bit 31 to bit 15.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0b1'00000'0000000000;
  const std::uint32_t magnitude = bits & 0x7fff'ffff;  // exponent and fraction
  const std::uint32_t exponent = magnitude >> 23;      // still with bias 127
  const std::uint32_t fraction = magnitude & 0x007f'ffff;

  // 2. NaN; and what is too large whatever the rounding: 2^16 = 65536 and above.
  if (exponent == 255 && fraction != 0) return 0b0'11111'1000000000;
  if (exponent >= 127 + 16) return static_cast<std::uint16_t>(sign | 0b0'11111'0000000000);

  // 3. What is too small: below 2^-25, half of the smallest subnormal.
  if (exponent < 127 - 25) return static_cast<std::uint16_t>(sign);

  // 4. Line up: `aligned` shifted right by `drop` bits is the exponent and fraction of the half, unrounded.
  std::uint32_t aligned = magnitude - ((127 - 15) << 23);  // normal: change the bias, drop 23 - 10 = 13 bits
  std::uint32_t drop = 13;
  if (exponent < 127 - 14) {            // subnormal: the exponent field stays 0,
    aligned = fraction | (1u << 23);    // so the leading 1 has to be written out,
    drop = 13 + (127 - 14) - exponent;  // and one more bit falls off for each power of two below 2^-14
  }

  // 5. Round. A carry out of the fraction runs into the exponent, which is right: 0 01111 1111111111 becomes
  //    0 10000 0000000000, the largest subnormal the smallest normal, and 65504 (from 65520 on) infinity.
  std::uint32_t kept = aligned >> drop;
  const std::uint32_t rest = aligned & ((1u << drop) - 1);
  const std::uint32_t halfway = 1u << (drop - 1);
  if (rest > halfway || (rest == halfway && (kept & 1) == 1)) kept += 1;

  return static_cast<std::uint16_t>(sign | kept);
}
// </exercise float_to_half>

// <exercise half_to_float>
/// The float with the value of the half: every half is one, nothing is rounded.
TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {
  // 1. Take the half apart.
  const std::uint32_t sign = (bits & 0b1'00000'0000000000u) << 16;
  const std::uint32_t exponent = (bits & 0b0'11111'0000000000u) >> 10;
  const std::uint32_t fraction = bits & 0b0'00000'1111111111u;

  // 2. Infinity and NaN: the exponent is all ones in both formats.
  if (exponent == 31 && fraction != 0) return std::bit_cast<float>(0x7fc0'0000u);
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f80'0000u);

  // 3. Zero and the subnormals count in steps of 2^-24. For float these are normal numbers: exact.
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }

  // 4. Normal: change the bias, move the fraction to the top of its wider field.
  return std::bit_cast<float>(sign | ((exponent + (127 - 15)) << 23) | (fraction << 13));
}
// </exercise half_to_float>

}  // namespace tinymp
