#pragma once

#include <kernels/kernels.h>
#include <tinymp/tensor/tensor.h>
#include <array>
#include <string>
#include <vector>

namespace tinymp::kernels::bench {

/// The shape of a product c:(M,N) = op(a) . op(b), and the layer it belongs to.
struct ProductShape {
  std::string name;  ///< "mlp 1 dw": layer 1 of the MLP; empty for squares
  int M = 0, N = 0, K = 0;
  Trans ta = Trans::no, tb = Trans::no;
};
/// "(784,64)^T (64,128)"
std::string text_of(const ProductShape& shape);

struct ProductFormat {
  DType values, sums;
};
inline constexpr std::array<ProductFormat, 4> product_formats = {{{DType::f32, DType::f32},
                                                                  {DType::f16, DType::f32},
                                                                  {DType::bf16, DType::f32},
                                                                  {DType::f16, DType::f16}}};

/// A product of one shape in every format. The operands hold eighths from -1 to 1, so that sums in FP32 are
/// exact in any order.
class CpuProduct {
 public:
  explicit CpuProduct(const ProductShape& shape);

  void poison(DType format) const;            ///< sets c to NaN, so that no old value counts
  void multiply(ProductFormat format) const;  ///< our gemm, into c
  const Tensor& a(DType format) const { return in(format).a; }
  const Tensor& b(DType format) const { return in(format).b; }
  const Tensor& c(DType format) const { return in(format).c; }

  /// 64 elements spread over c. pytorch.py samples the same ones.
  std::vector<double> samples(DType format) const;
  /// The right values of these elements: chains of multiply-adds over k, rounded to the format of the sums.
  std::vector<double> expected(ProductFormat format) const;

 private:
  struct Operands {
    Tensor a, b, c;
  };
  const Operands& in(DType format) const;

  ProductShape shape_;
  std::array<Operands, 3> operands_;  ///< f32, f16, bf16
};

}  // namespace tinymp::kernels::bench
