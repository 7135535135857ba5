#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <cstdint>

/// The element-wise functions, one text for CPU and GPU. To add one: a struct here and its line in
/// TINYMP_UNARY, from which come the enumerator, visit_unary() and the op (tinymp/ops/elementwise.cpp). Each
/// derivative is written in terms of the output y, so that backward need not keep the input, but for
/// keeps_input().
namespace tinymp::kernels {

#define TINYMP_UNARY(FUNCTION) \
  FUNCTION(relu, Relu)         \
  FUNCTION(sigmoid, Sigmoid)   \
  FUNCTION(tanh, Tanh)         \
  FUNCTION(exp, Exp)           \
  FUNCTION(log, Log)

#define TINYMP_NAME(name, Formula) name,
enum class Unary : std::uint8_t { TINYMP_UNARY(TINYMP_NAME) };
#undef TINYMP_NAME

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

/// Calls body.operator()<Relu>() for Unary::relu, and so on.
template <class F>
void visit_unary(Unary f, F&& body) {
  switch (f) {
#define TINYMP_CASE(name, Formula) \
  case Unary::name:                \
    return body.template operator()<Formula>();
    TINYMP_UNARY(TINYMP_CASE)
#undef TINYMP_CASE
  }
}

}  // namespace tinymp::kernels
