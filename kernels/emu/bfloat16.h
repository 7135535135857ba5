#pragma once

#include <bit>
#include <cstdint>

/// The upper half of a float: what kernels need of bfloat16, in one place.
namespace tinymp::kernels::emu {

class bfloat16 {
 public:
  bfloat16() = default;
  /// Nearest even; every NaN becomes 0x7fc0.
  explicit constexpr bfloat16(float x) : bits_(rounded(std::bit_cast<std::uint32_t>(x))) {}
  explicit constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits_} << 16); }

 private:
  static constexpr std::uint16_t rounded(std::uint32_t bits) {
    if ((bits & 0x7fff'ffff) > 0x7f80'0000) return 0x7fc0;
    const std::uint32_t odd = bits >> 16 & 1;
    return static_cast<std::uint16_t>((bits + 0x7fff + odd) >> 16);
  }
  std::uint16_t bits_;
};

}  // namespace tinymp::kernels::emu
