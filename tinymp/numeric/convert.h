#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>
#include <bit>
#include <cstdint>
#include <span>

/// Conversion of whole arrays between the formats. Between float and half the F16C instructions do it where
/// the machine has them and half_codec.h says that they agree with it, else half_codec.h, one by one.
namespace tinymp {

namespace detail {
/// Rounds to float "to odd": where x lies between two floats, takes the one whose last bit is 1. That is
/// never the middle of two halves, whose bits from the 12th on are 0, and lies on the same side of it as x
/// does; so it is with bfloat16. Rounded again, it gives what x itself would. Boldo and Melquiond, "Emulation
/// of FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008.
TINYMP_HD constexpr float float_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool inexact = back < x || back > x;
  if (inexact && (bits & 1) == 0) bits += (back < x) == (x > 0) ? 1u : ~0u;  // away from zero, or towards it
  return std::bit_cast<float>(bits);
}
}  // namespace detail

/// The half, or bfloat16, nearest to a double, rounded once. (static_cast<float> first would round twice: a
/// double just above the middle of two halves may round to that middle, and then to the wrong side.)
TINYMP_HD constexpr half half_from_double(double x) { return half(detail::float_to_odd(x)); }
TINYMP_HD constexpr bfloat16 bfloat16_from_double(double x) { return bfloat16(detail::float_to_odd(x)); }

/// out[i] = in[i] in the other format: rounded once, to nearest even; a NaN becomes the one NaN of the
/// format. Between equal formats the bits are copied. The arrays have one length and do not overlap.
/// @throws Error when the lengths differ.
void convert(std::span<const float> in, std::span<half> out);
void convert(std::span<const half> in, std::span<float> out);
void convert(std::span<const double> in, std::span<half> out);
void convert(std::span<const half> in, std::span<double> out);
void convert(std::span<const double> in, std::span<float> out);
void convert(std::span<const float> in, std::span<double> out);
void convert(std::span<const float> in, std::span<bfloat16> out);
void convert(std::span<const bfloat16> in, std::span<float> out);
void convert(std::span<const double> in, std::span<bfloat16> out);
void convert(std::span<const bfloat16> in, std::span<double> out);
void convert(std::span<const half> in, std::span<bfloat16> out);
void convert(std::span<const bfloat16> in, std::span<half> out);
void convert(std::span<const float> in, std::span<float> out);
void convert(std::span<const half> in, std::span<half> out);
void convert(std::span<const bfloat16> in, std::span<bfloat16> out);
void convert(std::span<const double> in, std::span<double> out);

/// Rounds to half, or to bfloat16, and back to float, where the values are.
void round_to_half(std::span<float> x);
void round_to_bfloat16(std::span<float> x);

/// "F16C instructions" or "half_codec.h": how convert() goes between float and half on this machine.
const char* half_conversion();

}  // namespace tinymp
