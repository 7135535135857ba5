#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <cmath>
#include <cstdint>
#include <variant>

/// The arithmetic of every element-wise op and optimizer, once, for CPU loops and GPU kernels alike.
namespace tinymp::kernels {

// Element-wise functions. To add one: a struct, a name in Unary, a line in visit_unary. Each derivative is
// written in terms of the output y, so that backward need not keep the input.

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

enum class Unary : std::uint8_t { relu, sigmoid, tanh };

template <class F>
void visit_unary(Unary f, F&& body) {
  switch (f) {
    case Unary::relu:
      return body.template operator()<Relu>();
    case Unary::sigmoid:
      return body.template operator()<Sigmoid>();
    case Unary::tanh:
      return body.template operator()<Tanh>();
  }
}

// Update rules. `moments` first moves the optimizer's state, which is then rounded to its format; `update`
// gives u, and the caller forms w - u. g arrives unscaled and clipped. FP32 throughout.

/// Sutskever et al. 2013, as PyTorch writes it:  v = mu v + g,  u = lr v.
struct SgdRule {
  float lr, momentum, weight_decay;
  int moment_count() const { return momentum != 0 ? 1 : 0; }

  TINYMP_HD void moments(float w, float g, float* m) const {
    if (momentum != 0) m[0] = momentum * m[0] + (g + weight_decay * w);
  }
  TINYMP_HD float update(float w, float g, const float* m) const {
    return lr * (momentum != 0 ? m[0] : g + weight_decay * w);
  }
};

/// Kingma and Ba 2015, algorithm 1; decoupled: Loshchilov and Hutter 2019 (AdamW), algorithm 2.
struct AdamRule {
  float lr, epsilon, weight_decay;
  bool decoupled;
  float beta1, beta2, rest1, rest2;  ///< rest = 1 - beta, rounded once: 1 - 0.999f would be 5e-5 off
  float correction1, correction2;    ///< 1 - beta^t
  int moment_count() const { return 2; }

  TINYMP_HD void moments(float w, float g, float* m) const {
    if (!decoupled) g = g + weight_decay * w;
    m[0] = beta1 * m[0] + rest1 * g;
    m[1] = beta2 * m[1] + rest2 * (g * g);
  }
  TINYMP_HD float update(float w, float, const float* m) const {
    const float step = (m[0] / correction1) / (std::sqrt(m[1] / correction2) + epsilon);
    return lr * (decoupled ? step + weight_decay * w : step);
  }
};

/// Duchi, Hazan and Singer 2011:  s = s + g^2,  u = lr g / (sqrt(s) + eps).
struct AdagradRule {
  float lr, epsilon, weight_decay;
  int moment_count() const { return 1; }

  TINYMP_HD void moments(float w, float g, float* m) const {
    const float d = g + weight_decay * w;
    m[0] = m[0] + d * d;
  }
  TINYMP_HD float update(float w, float g, const float* m) const {
    return lr * ((g + weight_decay * w) / (std::sqrt(m[0]) + epsilon));
  }
};

using UpdateRule = std::variant<SgdRule, AdamRule, AdagradRule>;

inline int moment_count(const UpdateRule& rule) {
  return std::visit([](const auto& r) { return r.moment_count(); }, rule);
}

}  // namespace tinymp::kernels
