#pragma once

#include <tests/numeric/half_oracle.h>
#include <tinymp/tensor/tensor.h>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

/// What a value becomes when it is stored in a format, worked out without the library.
namespace tinymp::test {

/// x rounded once to `dtype`, to nearest even. (long double to double and then to half would round twice: the
/// middle step goes "to odd", whose last bit remembers that something was cut off.)
inline double rounded_to(DType dtype, long double x) {
  const auto to_16_bits = [dtype](double v) {
    return dtype == DType::bf16 ? round_to_bfloat16(v) : round_to_half(v);
  };
  if (dtype == DType::f32) return static_cast<float>(x);
  const double nearest = static_cast<double>(x);
  if (dtype == DType::f64 || std::isnan(x) || std::isinf(nearest) || static_cast<long double>(nearest) == x) {
    return dtype == DType::f64 ? nearest : to_16_bits(nearest);
  }
  const bool above = static_cast<long double>(nearest) > x;
  double odd = nearest;
  if ((std::bit_cast<std::uint64_t>(nearest) & 1) == 0) {
    odd = std::nextafter(
        nearest, above ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity());
  }
  return to_16_bits(odd);
}

/// The distance between neighbours of the format at x.
inline double spacing(DType dtype, double x) {
  const int digits = dtype == DType::f16 ? 11 : dtype == DType::bf16 ? 8 : dtype == DType::f32 ? 24 : 53;
  const int lowest = dtype == DType::f16    ? -24
                     : dtype == DType::bf16 ? -133
                     : dtype == DType::f32  ? -149
                                            : -1074;
  if (x == 0 || !std::isfinite(x)) return std::ldexp(1.0, lowest);
  return std::ldexp(1.0, std::max(std::ilogb(x) - digits + 1, lowest));
}

/// Half the unit in the last place of what arithmetic on `dtype` is done in: FP32 for 16-bit formats.
inline double unit_roundoff(DType dtype) { return dtype == DType::f64 ? 0x1p-53 : 0x1p-24; }

inline bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace tinymp::test
