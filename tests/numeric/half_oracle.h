#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/// What binary16 is, said in ways that share nothing with half_codec.h: by value in double, and by the
/// machine.
namespace tinymp::test {

inline constexpr std::uint16_t kHalfNaN = 0x7e00;

/// The value of a half, from the formula of the standard.
inline double value_of_half(std::uint16_t bits) {
  const int exponent = (bits / 1024) % 32;
  const int fraction = bits % 1024;
  const double sign = bits >= 32768 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// The bits of the half nearest to x: looked up among the values of all halves. Slow and obvious.
inline std::uint16_t nearest_half(double x) {
  static const std::array<double, 31745> values = [] {  // 0 to infinity; infinity counts as 65536 here
    std::array<double, 31745> v{};
    for (unsigned i = 0; i < v.size(); ++i) v[i] = value_of_half(static_cast<std::uint16_t>(i));
    v.back() = 65536;
    return v;
  }();
  if (x != x) return kHalfNaN;
  const double magnitude = std::min(std::fabs(x), 65536.0);
  auto above =
      static_cast<unsigned>(std::lower_bound(values.begin(), values.end(), magnitude) - values.begin());
  if (above > 0) {
    const double middle = (values[above - 1] + values[above]) / 2;  // exact: 12 bits
    if (magnitude < middle || (magnitude == middle && (above - 1) % 2 == 0)) above -= 1;
  }
  return static_cast<std::uint16_t>(above + (std::signbit(x) ? 32768u : 0u));
}

/// x rounded to a format, by letting the addition of a double do the rounding. Fast; exact while x is.
inline double round_by_addition(double x, int fraction_bits, int smallest_exponent, double too_large) {
  const double magnitude = std::fabs(x);
  if (x != x) return x;
  if (magnitude >= too_large) return std::copysign(std::numeric_limits<double>::infinity(), x);
  const auto exponent = std::max<std::int64_t>(
      static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(magnitude) >> 52) - 1023, smallest_exponent);
  // The last bit of a number at this exponent is worth 2^(exponent - fraction_bits); that of a double of 2^52
  // times it the same.
  const double big =
      std::bit_cast<double>(static_cast<std::uint64_t>(exponent - fraction_bits + 52 + 1023) << 52);
  const double rounded = (magnitude + big) - big;
  return std::copysign(rounded >= too_large ? std::numeric_limits<double>::infinity() : rounded, x);
}
inline double round_to_half(double x) { return round_by_addition(x, 10, -14, 65536); }
inline double round_to_bfloat16(double x) { return round_by_addition(x, 7, -126, 0x1p128); }

#if defined(__x86_64__)
inline bool machine_has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 && __builtin_cpu_supports("avx");
}
__attribute__((target("f16c,avx"))) inline void f16c_half_bits(const float* in, std::uint16_t* out) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                   _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
#endif

}  // namespace tinymp::test
