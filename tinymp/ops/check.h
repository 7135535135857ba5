#pragma once

#include <tinymp/numeric/accumulation.h>
#include <tinymp/tensor/indices.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <string_view>

/// What ops ask of their operands before they compute.
namespace tinymp {

inline void expect_same_device(std::string_view op, const Tensor& a, const Tensor& b) {
  expect(a.device() == b.device(), op, ": ", a.dtype(), a.shape(), " on ", a.device(), " meets ", b.dtype(),
         b.shape(), " on ", b.device(), "; move one of them with .to()");
}

/// Throws Error unless a and b lie on one device, in one format. No op casts silently, because casts are the
/// subject of mixed precision.
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

/// Throws Error unless x is (B,C), and there is a label in 0 .. C-1 for each row.
inline void expect_labels(std::string_view op, std::string_view name, const Tensor& x,
                          const Indices& labels) {
  expect(x.shape().rank() == 2 && x.shape()[0] == labels.size() && labels.size() > 0, op, ": ", labels.size(),
         " labels for ", name, " of shape ", x.shape(), "; they are (B,C)");
  expect(labels.smallest() >= 0 && labels.largest() < x.shape()[1], op, ": label ",
         labels.smallest() < 0 ? labels.smallest() : labels.largest(), " is not one of the ", x.shape()[1],
         " classes");
  expect(labels.device() == x.device(), op, ": labels on ", labels.device(), " for ", name, " on ",
         x.device());
}

/// Throws Error when no kernel can keep sums this way.
inline void expect_sums(std::string_view op, const Accumulation& sums) {
  expect(sums.format == DType::f32 || sums.format == DType::f16, op, ": sums are kept in f32 or f16, not ",
         sums.format);
  expect(sums.chunk >= 0, op, ": a chunk of ", sums.chunk, " terms; give 0 (one chain) or more");
}

/// The format of sums and losses: f64 for f64, else FP32.
inline DType wide(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// The format in which a matmul or convolution of x keeps its sums.
inline DType sums_of(const Tensor& x, DType accumulate) {
  return x.dtype() == DType::f64 ? DType::f64 : accumulate;
}

}  // namespace tinymp
