#include <lessons/lab/bench/bits_blocks.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tinymp::lab::gpu_check {
namespace {

using kernels::Operand;
using kernels::Sums;

/// The exponents of the normal numbers of a format, and the bits of a significand behind the point.
struct Range {
  int smallest, largest, fraction;
};
Range range_of(Operand operand) {
  switch (operand) {
    case Operand::fp16:
      return {-14, 15, 10};
    case Operand::bf16:
      return {-126, 127, 7};
    case Operand::e4m3:
      return {-6, 8, 3};
    case Operand::e5m2:
      break;
  }
  return {-14, 15, 2};
}
constexpr Range of_half{-14, 15, 10}, of_float{-126, 127, 23};

/// A random number with an exponent of that range, or 0 below what a float holds.
float with_exponent(Rng& rng, int least, int most) {
  const auto span = static_cast<std::uint64_t>(most - least + 1);
  const int exponent = least + static_cast<int>(rng.below(span));
  const float significand = rng.uniform(1, 2);
  const bool negative = rng.below(2) == 0;
  const float value = std::ldexp(significand, exponent);
  return negative ? -value : value;
}

float subnormal(Rng& rng, const Range& range) {
  const auto steps = static_cast<float>(rng.below(std::uint64_t{1} << range.fraction));
  const bool negative = rng.below(2) == 0;
  return std::ldexp(negative ? -steps : steps, range.smallest - range.fraction);
}

float special(Rng& rng, bool has_infinity) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::uint64_t which = rng.below(3);
  if (which == 0 || !has_infinity) return std::numeric_limits<float>::quiet_NaN();
  return which == 1 ? infinity : -infinity;
}

float drawn_operand(Rng& rng, const Range& range, Kind kind, bool first, bool has_infinity) {
  if (rng.below(16) == 0) return 0;
  switch (kind) {
    case Kind::subnormal: {
      const bool common = rng.below(4) > 0;
      if (first == common) return subnormal(rng, range);
      return first ? with_exponent(rng, range.smallest, range.smallest + 4) : with_exponent(rng, -3, 3);
    }
    case Kind::large:
      return first ? with_exponent(rng, range.largest - 3, range.largest) : with_exponent(rng, -2, 3);
    case Kind::special:
      if (rng.below(24) == 0) return special(rng, has_infinity);
      break;
    case Kind::spread:
      break;
  }
  return with_exponent(rng, std::max(-8, range.smallest), std::min(8, range.largest));
}

float drawn_sum(Rng& rng, Sums sums, const Range& operands, Kind kind) {
  const Range range = sums == Sums::f16 ? of_half : of_float;
  if (rng.below(16) == 0) return 0;
  switch (kind) {
    case Kind::subnormal:
      if (sums == Sums::f16 || operands.smallest == of_float.smallest) return subnormal(rng, range);
      return with_exponent(rng, operands.smallest - operands.fraction - 4, operands.smallest);
    case Kind::large:
      return with_exponent(rng, std::min(operands.largest, range.largest) - 3,
                           std::min(operands.largest + 4, range.largest));
    case Kind::special:
      if (rng.below(8) == 0) return special(rng, true);
      break;
    case Kind::spread:
      break;
  }
  return rng.uniform(-64, 64);
}

/// The nearest number of the format; where there is none so large, half of it.
template <class Rounded>
float finite(float x, const Rounded& rounded) {
  const float nearest = rounded(x);
  return std::isfinite(x) && !std::isfinite(nearest) ? rounded(x / 2) : nearest;
}

}  // namespace

const char* name_of(Kind kind) {
  constexpr const char* names[] = {"spread", "subnormal", "large", "special"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<unsigned char> Numbers::bytes(int size) const {
  std::vector<unsigned char> result;
  for (const std::uint32_t one : bits)
    for (int i = 0; i < size; ++i) result.push_back(static_cast<unsigned char>(one >> (8 * i)));
  return result;
}

int bytes_of(Operand operand) { return operand == Operand::fp16 || operand == Operand::bf16 ? 2 : 1; }
int bytes_of(Sums sums) { return sums == Sums::f16 ? 2 : 4; }

std::uint32_t bits_of(Operand operand, float x) {
  switch (operand) {
    case Operand::fp16:
      return half(x).bits();
    case Operand::bf16:
      return bfloat16(x).bits();
    case Operand::e4m3:
      return float8_e4m3(x, Overflow::infinity).bits();
    case Operand::e5m2:
      break;
  }
  return float8_e5m2(x, Overflow::infinity).bits();
}

std::uint32_t bits_of(Sums sums, float x) {
  return sums == Sums::f16 ? half(x).bits() : std::bit_cast<std::uint32_t>(x);
}

float value_of(Sums sums, std::uint32_t bits) {
  return sums == Sums::f16 ? static_cast<float>(half::from_bits(static_cast<std::uint16_t>(bits)))
                           : std::bit_cast<float>(bits);
}

Numbers draw(Rng& rng, std::size_t count, Operand operand, Kind kind, bool first) {
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = drawn_operand(rng, range_of(operand), kind, first, operand != Operand::e4m3);
    numbers.values.push_back(finite(x, [&](float y) { return kernels::round_to(operand, y); }));
    numbers.bits.push_back(bits_of(operand, numbers.values.back()));
  }
  return numbers;
}

Numbers draw_sums(Rng& rng, std::size_t count, Sums sums, Operand operand, Kind kind) {
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = drawn_sum(rng, sums, range_of(operand), kind);
    numbers.values.push_back(finite(x, [&](float y) { return value_of(sums, bits_of(sums, y)); }));
    numbers.bits.push_back(bits_of(sums, numbers.values.back()));
  }
  return numbers;
}

}  // namespace tinymp::lab::gpu_check
