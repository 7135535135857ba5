#pragma once

#include <tinymp/numeric/accumulation.h>
#include <tinymp/tensor/tensor.h>
#include <string_view>

namespace tinymp {

inline void expect_same_device(std::string_view op, const Tensor& a, const Tensor& b) {
  expect(a.device() == b.device(), op, ": ", a.dtype(), a.shape(), " on ", a.device(), " meets ", b.dtype(),
         b.shape(), " on ", b.device(), "; move one of them with .to()");
}

/// Throws Error unless a and b lie on one device, in one format. Casting is never silent: it is where mixed
/// precision happens.
inline void expect_same_dtype(std::string_view op, const Tensor& a, const Tensor& b) {
  expect_same_device(op, a, b);
  expect(a.dtype() == b.dtype(), op, ": ", a.dtype(), a.shape(), " meets ", b.dtype(), b.shape(),
         "; cast() one of them to the other's format");
}

/// Throws Error unless the parameter of a norm has the format of x, or is FP32 beside a narrow x.
inline void expect_norm_parameters(std::string_view op, const Tensor& x, const Tensor& parameter) {
  if (!is_narrow(x.dtype()) || parameter.dtype() != DType::f32) return expect_same_dtype(op, x, parameter);
  expect_same_device(op, x, parameter);
}

inline void expect_same_shape(std::string_view op, const Tensor& a, const Tensor& b) {
  expect(a.shape() == b.shape(), op, ": shapes ", a.shape(), " and ", b.shape(), " differ");
}

/// Throws Error unless x is a matrix.
inline void expect_rows(std::string_view op, const Tensor& x) {
  expect(x.shape().rank() == 2, op, ": x", x.shape(), " does not fit: x is (B,C)");
}

/// Throws Error where sums cannot be kept so.
inline void expect_sums(std::string_view op, const Accumulation& sums) {
  expect(sums.format == DType::f32 || sums.format == DType::f16, op, ": sums are kept in f32 or f16, not ",
         sums.format);
  expect(sums.chunk >= 0, op, ": a chunk of ", sums.chunk, " terms; give 0 (one chain) or more");
}

/// f64 for f64, else FP32: what sums and losses come back in.
inline DType wide(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// The format that a matmul or convolution of x really keeps its sums in.
inline DType sums_of(const Tensor& x, DType accumulate) {
  return x.dtype() == DType::f64 ? DType::f64 : accumulate;
}

}  // namespace tinymp
