#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/small_float_codec.h>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace tinymp {

/// The scale of a block of numbers, a power of two: the exponent field of a float, without sign and fraction.
/// OCP Microscaling Formats Specification 1.0, section 5.4.1.
///
///     0x00 .. 0xfe   2^(code - 127), so 2^-127 to 2^127
///     0xff           NaN
///
/// There is no zero, no sign and no infinity. Like `float`, one without an initialiser holds anything.
class float8_e8m0 {
 public:
  using Bits = std::uint8_t;
  float8_e8m0() = default;

  TINYMP_HD static constexpr float8_e8m0 from_bits(Bits bits) {
    float8_e8m0 x{};
    x.bits_ = bits;
    return x;
  }
  TINYMP_HD constexpr Bits bits() const { return bits_; }
  /// Float holds every value; 2^-127 is a subnormal float.
  TINYMP_HD explicit constexpr operator float() const {
    return bits_ == 0xff ? std::bit_cast<float>(0x7fc0'0000u) : power_of_two(bits_ - 127);
  }
  TINYMP_HD friend constexpr bool isnan(float8_e8m0 a) { return a.bits_ == 0xff; }

 private:
  Bits bits_;
};
static_assert(sizeof(float8_e8m0) == 1 && std::is_trivial_v<float8_e8m0>);

/// Returns the largest power of two that is at most |x|, as the OCP specification, section 6.3, has it. The block
/// that x is the largest number of may then overflow its format. NaN stays, infinity becomes 2^127, and zero
/// and all below 2^-127 become 2^-127.
TINYMP_HD constexpr float8_e8m0 e8m0_rounded_down(float x) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7fff'ffff;
  if (magnitude > 0x7f80'0000) return float8_e8m0::from_bits(0xff);
  if (magnitude == 0x7f80'0000) return float8_e8m0::from_bits(0xfe);
  return float8_e8m0::from_bits(static_cast<std::uint8_t>(magnitude >> 23));
}

/// Returns the smallest power of two that is at least |x|: no number of the block overflows. (Mishra et al.,
/// "Recipes for pre-training LLMs with MXFP8", arXiv 2506.08027; the instruction cvt.rp.satfinite.ue8m0x2 of
/// NVIDIA.) Above 2^127, infinity included, the result is 2^127. NaN stays; zero becomes 2^-127.
TINYMP_HD constexpr float8_e8m0 e8m0_rounded_up(float x) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7fff'ffff;
  const std::uint32_t code = e8m0_rounded_down(x).bits(), fraction = magnitude & 0x007f'ffff;
  // Below 2^-126 a float has no leading 1, and 2^-127 itself is the fraction 0x400000.
  const std::uint32_t of_power = code == 0 ? 0x0040'0000 : 0;
  const bool moves = code < 0xfe && fraction > of_power;
  return float8_e8m0::from_bits(static_cast<std::uint8_t>(moves ? code + 1 : code));
}

}  // namespace tinymp
