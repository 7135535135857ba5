#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/float8.h>
#include <cstdint>
#include <span>

/// Floats become FP8: y = round(scale x), in any of three roundings, for arrays.
namespace tinymp {

/// How a tensor becomes FP8.
struct Quantization {
  Rounding rounding = Rounding::nearest_even;  ///< or toward_zero, or stochastic
  Overflow overflow = Overflow::saturate;      ///< of numbers that round to more than the largest number
  /// Rounding::stochastic draws from these, and from the step and the place of a value: no two tensors of a run,
  /// and no two steps, share their random numbers.
  std::uint64_t seed = 0;
  std::uint64_t tensor = 0;
};

/// The random numbers of one tensor in one step. `step` is a whole number, 0 .. 2^53.
struct RandomWords {
  std::uint64_t seed;

  TINYMP_HD static constexpr RandomWords of(const Quantization& how, double step) {
    const std::uint64_t whole = step >= 0 && step <= 0x1p53 ? static_cast<std::uint64_t>(step) : 0;
    return {Rng(how.seed).split(whole).split(how.tensor).seed()};
  }
  /// The 32 bits for the value at `place`.
  TINYMP_HD constexpr std::uint32_t at(std::int64_t place) const {
    return static_cast<std::uint32_t>(Rng(seed, static_cast<std::uint64_t>(place)).next_u64() >> 32);
  }
};

/// out[i] = rounded<T>(scale x[i], how.rounding, words.at(first + i), how.overflow)  (rounded.h): the same bits, many
/// values at a time. scale x[i] is a float, rounded to nearest even. T is float8_e4m3 or float8_e5m2; `out` is
/// as long as `x`.
/// @throws Error for other roundings.
template <class T>
void quantize(std::span<const float> x, float scale, const Quantization& how, RandomWords words,
              std::int64_t first, std::span<T> out);

}  // namespace tinymp
