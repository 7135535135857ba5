#pragma once

#include <tinymp/base/error.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/dtype.h>
#include <tinymp/numeric/eight_bits.h>
#include <bit>
#include <cstdint>
#include <limits>

namespace tinymp::kernels {

/// What the sums of a product of FP8 operands are multiplied with.
struct ProductFactor {
  float factor = 1;
  float power = 1;  ///< 2^-126 or 2^126 where one float has too few bits for both, else 1

  TINYMP_HD float times(float sum) const { return power * (factor * sum); }
};

/// factor power = 1 / (scale_a scale_b), computed in double, then rounded to 24 bits. A scale that is not there is 1. `factor`
/// alone is that number where it is a normal float. Sums of FP8 products are 0, or lie between 2^-32 and 2^63: beside a
/// `power`, factor sum is infinite or subnormal only where the result is infinite or 0. The largest float stands for a
/// larger `factor`, so that a sum of 0 stays 0.
TINYMP_HD inline ProductFactor product_factor(const float* scale_a, const float* scale_b) {
  using Float = std::numeric_limits<float>;
  const double a = scale_a == nullptr ? 1 : static_cast<double>(*scale_a);
  const double b = scale_b == nullptr ? 1 : static_cast<double>(*scale_b);
  constexpr double largest = static_cast<double>(Float::max()), least = static_cast<double>(Float::min());
  double factor = 1 / (a * b);
  float power = 1;
  if (factor < least) factor *= 0x1p126, power = 0x1p-126f;
  if (factor > largest) factor *= 0x1p-126, power = 0x1p126f;
  return {static_cast<float>(factor > largest ? largest : factor), power};
}

/// What a NaN counts as where the bits of magnitudes are compared: nothing, or more than infinity.
constexpr std::uint32_t nan_ignored = 0, nan_wins = 0x7fc0'0000;

/// The bits of |x|, which are in the order of the magnitudes, and `of_nan` for every NaN.
TINYMP_HD constexpr std::uint32_t magnitude_bits(float x, std::uint32_t of_nan) {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(x) & 0x7fff'ffff;
  return magnitude > 0x7f80'0000 ? of_nan : magnitude;
}

/// The scale of a tensor with this amax, by either rule for current scales.
TINYMP_HD inline float current_scale_of(TensorScaling how, float largest, float amax) {
  return how == TensorScaling::torchao ? torchao_current_scale(amax, largest)
                                       : te_current_scale(amax, largest);
}

/// Delayed scales, one after another, as move_delayed_scales() has them.
struct DelayedScales {
  DelayedScaling policy;
  float *amax, *history;
  double* next;
  float* scale;

  /// Ends a step for one of them.
  TINYMP_HD void move(std::int64_t i) const {
    if (!(amax[i] >= 0)) return;
    DelayedScale state{scale[i], static_cast<std::int32_t>(next[i])};
    move_delayed_scale(policy, history + i * policy.history_length, amax[i], state);
    amax[i] = -1;
    next[i] = state.next;
    scale[i] = state.scale;
  }
};

/// Calls f.operator()<T>() with the FP8 type of the format. Throws Error for other formats.
template <class F>
void visit_float8(DType dtype, F&& f) {
  if (dtype == DType::e5m2) return f.template operator()<float8_e5m2>();
  expect(dtype == DType::e4m3, "quantize writes e4m3 or e5m2, not ", dtype, "; cast() rounds to that");
  f.template operator()<float8_e4m3>();
}

}  // namespace tinymp::kernels
