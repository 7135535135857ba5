#pragma once

#include <tinymp/base/error.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/dtype.h>
#include <tinymp/numeric/eight_bits.h>
#include <limits>

namespace tinymp::kernels {

/// What a product of FP8 operands is multiplied with: 1 / (scale_a scale_b), computed in double, then rounded. A
/// scale that is not there is 1. The largest float stands for what lies beyond it, so that a sum of 0 stays 0.
TINYMP_HD inline float product_factor(const float* scale_a, const float* scale_b) {
  const double a = scale_a == nullptr ? 1 : static_cast<double>(*scale_a);
  const double b = scale_b == nullptr ? 1 : static_cast<double>(*scale_b);
  constexpr double largest = static_cast<double>(std::numeric_limits<float>::max());
  const double factor = 1 / (a * b);
  return static_cast<float>(factor > largest ? largest : factor);
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
