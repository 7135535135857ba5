#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

/// The oracle of the exercises of chapter 12: numbers as multiples of the distance between two numbers of a format. All of
/// it is exact in double. No number here comes near the largest one of a format.
namespace tinymp::exercise {

struct Format {
  const char* name;
  int fraction_bits, smallest_exponent;  ///< of the normal numbers
};
inline constexpr Format formats[] = {{"FP16", 10, -14}, {"BF16", 7, -126}};

/// The distance between the numbers of the format around x.
inline double spacing(const Format& format, double x) {
  const int exponent = x == 0 ? format.smallest_exponent : std::max(std::ilogb(x), format.smallest_exponent);
  return std::ldexp(1.0, exponent - format.fraction_bits);
}

inline double toward_zero(const Format& format, double x) {
  const double step = spacing(format, x);
  return std::trunc(x / step) * step;
}
inline double away_from_zero(const Format& format, double x) {
  const double near = toward_zero(format, x);
  return near == x ? x : near + std::copysign(spacing(format, x), x);
}
/// 0 at the neighbour toward zero, near 1 at the other.
inline double part_between(const Format& format, double x) {
  return (x - toward_zero(format, x)) / std::copysign(spacing(format, x), x);
}
/// For every 32-bit integer `random` that is below 2^32 times part_between().
inline double stochastic(const Format& format, double x, std::uint32_t random) {
  const bool away = static_cast<double>(random) < std::floor(0x1p32 * part_between(format, x));
  return away ? away_from_zero(format, x) : toward_zero(format, x);
}
inline double nearest(const Format& format, double x) {
  const double step = spacing(format, x), part = part_between(format, x);
  const bool odd = std::fmod(toward_zero(format, x) / step, 2) != 0;
  return part > 0.5 || (part == 0.5 && odd) ? away_from_zero(format, x) : toward_zero(format, x);
}
/// x - y in FP32, as a double.
inline double difference(double x, double y) {
  return static_cast<double>(static_cast<float>(x) - static_cast<float>(y));
}

}  // namespace tinymp::exercise
