#include <fmt/format.h>
#include <lessons/lab/classroom/small_format.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace tinymp::classroom {
namespace {

/// The exponent of a double that is neither zero nor subnormal: 2^exponent <= |x| < 2^(exponent + 1).
int exponent_of(double x) { return static_cast<int>((std::bit_cast<std::uint64_t>(x) >> 52) & 0x7ff) - 1023; }

/// x rounded to a multiple of 2^unit.
double to_multiple(double x, int unit) {
  const double n = std::ldexp(x, -unit), below = std::floor(n), over = n - below;
  const bool odd = std::floor(below / 2) * 2 != below;
  return std::ldexp(below + (over > 0.5 || (over == 0.5 && odd) ? 1 : 0), unit);
}

}  // namespace

double rounded_to(double x, int fraction_bits) {
  return x == 0 ? x : to_multiple(x, exponent_of(x) - fraction_bits);
}

double SmallFormat::largest() const { return std::ldexp(2 - std::ldexp(1.0, -fraction_bits), bias()); }

double SmallFormat::smallest() const { return std::ldexp(1.0, 1 - bias() - fraction_bits); }

double SmallFormat::rounded(double x) const {
  if (x == 0) return x;
  const double y = to_multiple(x, std::max(exponent_of(x), 1 - bias()) - fraction_bits);
  if (std::abs(y) <= largest()) return y;
  return std::copysign(std::numeric_limits<double>::infinity(), x);
}

std::string SmallFormat::fields(double x) const {
  const double size = std::abs(x);
  const bool normal = size >= std::ldexp(1.0, 1 - bias());
  const int exponent = normal ? exponent_of(size) : 1 - bias();
  const double ones = std::ldexp(size, fraction_bits - exponent);
  const int fraction = static_cast<int>(std::clamp(ones, 0.0, 1e9)) - (normal ? 1 << fraction_bits : 0);
  return fmt::format("{} {:0{}b} {:0{}b}", std::signbit(x) ? 1 : 0, normal ? exponent + bias() : 0,
                     exponent_bits, fraction, fraction_bits);
}

std::string SmallFormat::name() const {
  return fmt::format("1 sign bit, {} exponent bits, {} fraction bits", exponent_bits, fraction_bits);
}

}  // namespace tinymp::classroom
