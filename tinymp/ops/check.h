#pragma once

#include <tinymp/numeric/accumulation.h>
#include <tinymp/tensor/storage.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <memory>
#include <span>
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
                          std::span<const std::int32_t> labels) {
  expect(x.shape().rank() == 2 && x.shape()[0] == static_cast<std::int64_t>(labels.size()) && !labels.empty(),
         op, ": ", labels.size(), " labels for ", name, " of shape ", x.shape(), "; they are (B,C)");
  for (const std::int32_t label : labels) {
    expect(label >= 0 && label < x.shape()[1], op, ": label ", label, " is not one of the ", x.shape()[1],
           " classes");
  }
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

/// Labels or tokens on the device of the values that they belong to.
class Indices {
 public:
  Indices(std::span<const std::int32_t> values, Device device)
      : memory_(std::make_shared<Storage>(values.size_bytes(), device)), count_(values.size()) {
    allocator(device).copy_in(memory_->data(), values.data(), values.size_bytes());
  }
  std::span<const std::int32_t> view() const {
    return {reinterpret_cast<const std::int32_t*>(memory_->data()), count_};
  }

 private:
  std::shared_ptr<Storage> memory_;
  std::size_t count_;
};

}  // namespace tinymp
