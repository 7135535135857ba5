#pragma once

#include <kernels/step.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <cmath>
#include <variant>

/// The rules of the optimizers, one text for CPU and GPU. `begin` runs once a step. `moments` runs for each
/// weight and computes its new moments; the caller rounds them to their format. Then `update` returns u, and
/// the caller computes w - u. g is unscaled and clipped. `moments` and `update` compute in FP32. A choice that
/// is the same for all weights is a template parameter, so that no loop tests it.
namespace tinymp::kernels {

/// Returns the average, or 0 if its magnitude is below 2^-120. An average decays if its gradients are 0. Rounding
/// would keep it among the smallest subnormal numbers for good. There it is too small to move a weight, and
/// most processors take ten times as long to compute with it.
TINYMP_HD inline float settled(float average) {
  constexpr float nothing = 0x1p-120f;  // times 0.9 it is still a normal number
  return average < nothing && average > -nothing ? 0.0f : average;
}

/// Sutskever et al. 2013, as PyTorch writes it:  v = mu v + g,  u = lr v;  without momentum u = lr g.
template <bool has_momentum>
struct SgdRule {
  float momentum, weight_decay;
  static constexpr int moment_count = has_momentum ? 1 : 0;

  TINYMP_HD void begin(StepState&) const {}
  TINYMP_HD void moments(float w, float g, float* m) const {
    if constexpr (has_momentum) m[0] = settled(momentum * m[0] + (g + weight_decay * w));
  }
  TINYMP_HD float update(float w, float g, const float* m, const StepState& s) const {
    if constexpr (has_momentum) return s.lr * m[0];
    return s.lr * (g + weight_decay * w);
  }
};

/// Kingma and Ba 2015, algorithm 1; decoupled: Loshchilov and Hutter 2019 (AdamW), algorithm 2.
template <bool decoupled>
struct AdamRule {
  float epsilon, weight_decay;
  double exact_beta1, exact_beta2;
  /// rest = 1 - beta, rounded from double once: the relative error of 1 - 0.999f is 1.3e-5.
  float beta1, beta2, rest1, rest2;
  static constexpr int moment_count = 2;

  // <exercise adam>
  // 1 - beta^t in double: for small t the difference would lose half its digits in FP32.
  TINYMP_HD void begin(StepState& s) const {
    s.correction1 = static_cast<float>(1 - integer_power(exact_beta1, s.steps));
    s.correction2 = static_cast<float>(1 - integer_power(exact_beta2, s.steps));
  }
  TINYMP_HD void moments(float w, float g, float* m) const {
    if constexpr (!decoupled) g = g + weight_decay * w;
    m[0] = settled(beta1 * m[0] + rest1 * g);
    m[1] = beta2 * m[1] + rest2 * (g * g);
  }
  TINYMP_HD float update(float w, float, const float* m, const StepState& s) const {
    const float step = (m[0] / s.correction1) / (std::sqrt(m[1] / s.correction2) + epsilon);
    if constexpr (decoupled) return s.lr * (step + weight_decay * w);
    return s.lr * step;
  }
  // </exercise adam>
};

template <bool decoupled>
TINYMP_HD AdamRule<decoupled> adam_rule(double beta1, double beta2, float epsilon, float weight_decay) {
  return {.epsilon = epsilon,
          .weight_decay = weight_decay,
          .exact_beta1 = beta1,
          .exact_beta2 = beta2,
          .beta1 = static_cast<float>(beta1),
          .beta2 = static_cast<float>(beta2),
          .rest1 = static_cast<float>(1 - beta1),
          .rest2 = static_cast<float>(1 - beta2)};
}

/// Duchi, Hazan and Singer 2011:  s = s + g^2,  u = lr g / (sqrt(s) + eps).
struct AdagradRule {
  float epsilon, weight_decay;
  static constexpr int moment_count = 1;

  TINYMP_HD void begin(StepState&) const {}
  TINYMP_HD void moments(float w, float g, float* m) const {
    const float d = g + weight_decay * w;
    m[0] = m[0] + d * d;
  }
  TINYMP_HD float update(float w, float g, const float* m, const StepState& s) const {
    return s.lr * ((g + weight_decay * w) / (std::sqrt(m[0]) + epsilon));
  }
};

using UpdateRule = std::variant<SgdRule<false>, SgdRule<true>, AdamRule<false>, AdamRule<true>, AdagradRule>;

}  // namespace tinymp::kernels
