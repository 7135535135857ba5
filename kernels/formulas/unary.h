#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/numeric/gelu.h>
#include <cstdint>

/// The element-wise functions, one text for CPU and GPU. To add one, write a struct here and its line in
/// TINYMP_UNARY. The enumerator, visit_unary() and the op (tinymp/ops/elementwise.cpp) follow from that line.
/// Each derivative is a function of the output y, so that backward need not keep the input x. keeps_input()
/// names the exceptions.
namespace tinymp::kernels {

#define TINYMP_UNARY(FUNCTION) \
  FUNCTION(relu, Relu)         \
  FUNCTION(sigmoid, Sigmoid)   \
  FUNCTION(tanh, Tanh)         \
  FUNCTION(exp, Exp)           \
  FUNCTION(log, Log)           \
  FUNCTION(gelu, Gelu)

#define TINYMP_NAME(name, Formula) name,
enum class Unary : std::uint8_t { TINYMP_UNARY(TINYMP_NAME) };
#undef TINYMP_NAME

/// True if backward gets the input x in place of the output y. The derivative of log is 1/x, and e^y would be
/// far from x after y was rounded to 16 bits. gelu falls and rises, so y does not tell x.
constexpr bool keeps_input(Unary f) { return f == Unary::log || f == Unary::gelu; }

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

/// Infinite above 88.72, in FP16 above 11.09. Its derivative is infinite there, too.
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

/// -infinity at 0, NaN below 0. Its derivative at 0 is infinite.
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

/// x P(X <= x) for a normal X: numeric/gelu.h.
struct Gelu {
  template <class C>
  static TINYMP_HD C forward(C x) {
    return gelu(x);
  }
  template <class C>
  static TINYMP_HD C backward(C x, C dy) {
    return dy * gelu_slope(x);
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
