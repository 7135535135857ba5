#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <cstdint>

/// The element-wise functions, one text for CPU and GPU. To add one: its name in Unary, a struct, a line in
/// visit_unary, which does not compile without it. Each derivative is written in terms of the output y, so
/// that backward need not keep the input, but for keeps_input().
namespace tinymp::kernels {

enum class Unary : std::uint8_t { relu, sigmoid, tanh, exp, log };

/// Whether backward is given the input x in the place of y. e^y would be far off once y has been rounded to
/// 16 bits.
constexpr bool keeps_input(Unary f) { return f == Unary::log; }

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

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
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
#pragma GCC diagnostic pop

}  // namespace tinymp::kernels
