#pragma once

#include <kernels/row_chunks.h>
#include <kernels/step.h>
#include <kernels/unary.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

/// The arithmetic of every element-wise op and optimizer, once, for CPU loops and GPU kernels alike.
namespace tinymp::kernels {

// Element-wise functions. To add one: a struct, a name in Unary, a line in visit_unary. Each derivative is
// written in terms of the output y, so that backward need not keep the input; only that of log wants x, for
// e^y would be far off once y has been rounded to 16 bits.

// <exercise backward_of_relu>
struct Relu {
  // Written so that NaN passes: max(NaN, 0) would hide it.
  template <class C>
  static TINYMP_HD C forward(C x) {
    return x <= C(0) ? C(0) : x;
  }
  template <class C>
  static TINYMP_HD C backward(C y, C dy) {
    return y <= C(0) ? C(0) : dy;
  }
};
// </exercise backward_of_relu>

struct Sigmoid {
  template <class C>
  static TINYMP_HD C forward(C x) {
    return sigmoid(x);
  }
  template <class C>
  static TINYMP_HD C backward(C y, C dy) {
    return dy * (y * (C(1) - y));
  }
};

struct Tanh {
  template <class C>
  static TINYMP_HD C forward(C x) {
    return tanh(x);
  }
  template <class C>
  static TINYMP_HD C backward(C y, C dy) {
    return dy * (C(1) - y * y);
  }
};

/// Above 88.72 (in FP16 above 11.09) infinite, and then its derivative is, too.
struct Exp {
  template <class C>
  static TINYMP_HD C forward(C x) {
    return exp(x);
  }
  template <class C>
  static TINYMP_HD C backward(C y, C dy) {
    return dy * y;
  }
};

/// -infinity at 0, where its derivative is infinite; NaN below.
struct Log {
  template <class C>
  static TINYMP_HD C forward(C x) {
    return log(x);
  }
  template <class C>
  static TINYMP_HD C backward(C x, C dy) {
    return dy / x;
  }
};

template <class F>
void visit_unary(Unary f, F&& body) {
  switch (f) {
    case Unary::relu:
      return body.template operator()<Relu>();
    case Unary::sigmoid:
      return body.template operator()<Sigmoid>();
    case Unary::tanh:
      return body.template operator()<Tanh>();
    case Unary::exp:
      return body.template operator()<Exp>();
    case Unary::log:
      return body.template operator()<Log>();
  }
}

// Losses.

/// The largest of n values x[i]; NaN where one of them is. (Two questions, neither of which needs a jump.)
template <class C, class Row>
TINYMP_HD C largest(const Row& x, std::int64_t n) {
  C top = x[0];
  bool any_nan = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const C v = x[i];
    any_nan |= v != v;
    top = v > top ? v : top;
  }
  return any_nan ? std::numeric_limits<C>::quiet_NaN() : top;
}

/// Where the largest of n > 0 values x[i] lies, NaN above all numbers; the first of equals or of NaNs.
template <class C, class Row>
TINYMP_HD std::int64_t place_of_largest(const Row& x, std::int64_t n) {
  std::int64_t place = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const C v = x[i], top = x[place];
    if (v > top || (v != v && top == top)) place = i;
  }
  return place;
}

/// log sum exp(x) = top + rest: the largest of n values x[i], without which exp would overflow, and
/// log sum exp(x - top). Two numbers, for their sum in one would lose the second where the first is large.
template <class C>
struct LogSumExp {
  C top, rest;
  /// log sum exp(x) - v
  TINYMP_HD C minus(C v) const { return (top - v) + rest; }
  /// The share of v in the sum: exp(v) / sum exp(x).
  TINYMP_HD C share_of(C v) const { return exp((v - top) - rest); }
};
template <class C, class Row>
TINYMP_HD LogSumExp<C> log_sum_exp(const Row& x, std::int64_t n) {
  const C top = largest<C>(x, n);
  return {top, log(sum_in_lanes<C>(n, [&](std::int64_t i) { return exp(x[i] - top); }))};
}

/// factor dloss / n, in double: 2 dloss may lie beyond the largest float when dloss does not.
template <class C>
TINYMP_HD C share_of(C dloss, double factor, std::int64_t n) {
  return static_cast<C>(factor * static_cast<double>(dloss) / static_cast<double>(n));
}

/// Batch norm, value by value. Ioffe and Szegedy 2015, algorithm 1, and the derivatives of their section 3.
struct BatchNorm {
  template <class C>
  static TINYMP_HD C inverse_deviation(C variance, C epsilon) {
    return C(1) / std::sqrt(variance + epsilon);
  }
  template <class C>
  static TINYMP_HD C normalized(C x, C mean, C inverse) {
    return (x - mean) * inverse;
  }
  template <class C>
  static TINYMP_HD C forward(C xhat, C gamma, C beta) {
    return gamma * xhat + beta;
  }
  /// mean_dy and mean_dy_xhat: over the batch, of dy and of dy xhat.
  template <class C>
  static TINYMP_HD C backward(C xhat, C inverse, C gamma, C dy, C mean_dy, C mean_dy_xhat) {
    return gamma * inverse * (dy - mean_dy - xhat * mean_dy_xhat);
  }
};

/// (1 - momentum) running + momentum factor newest
template <class C>
struct RunningAverage {
  C rest, share;
  RunningAverage(double momentum, double factor)
      : rest(static_cast<C>(1 - momentum)), share(static_cast<C>(momentum * factor)) {}
  TINYMP_HD C operator()(C running, C newest) const { return rest * running + share * newest; }
};

// Update rules. `begin` prepares a step, once; `moments` first moves the optimizer's state, which is then
// rounded to its format; `update` gives u, and the caller forms w - u. g arrives unscaled and clipped. FP32
// throughout. A choice that holds for all weights is part of the type: no loop asks for it again.

/// An average that decays without ever being fed again should come to 0, but rounding keeps it among the
/// smallest subnormal numbers for good: too small to move any weight, and slower by a factor of ten in most
/// processors.
TINYMP_HD inline float settled(float average) {
  constexpr float nothing = 0x1p-120f;  // times 0.9 still a normal number
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
  float beta1, beta2, rest1, rest2;  ///< rest = 1 - beta, rounded once: 1 - 0.999f would be 5e-5 off
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

/// The norm whose square is given, and the factor that makes it at most max_norm, as PyTorch's
/// clip_grad_norm_ has it. A norm that is not finite changes nothing.
// <exercise clip_factor>
TINYMP_HD inline float clip_factor(double sum_of_squares, float max_norm, float& factor) {
  const double norm = std::sqrt(sum_of_squares);
  const double shrink = static_cast<double>(max_norm) / (norm + 1e-6);
  const bool finite = norm - norm == 0;
  if (finite && shrink < 1) factor = static_cast<float>(static_cast<double>(factor) * shrink);
  return static_cast<float>(norm);
}
// </exercise clip_factor>

using UpdateRule = std::variant<SgdRule<false>, SgdRule<true>, AdamRule<false>, AdamRule<true>, AdagradRule>;

}  // namespace tinymp::kernels
