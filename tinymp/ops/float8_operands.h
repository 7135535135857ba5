#pragma once

#include <kernels/kernels.h>
#include <tinymp/autograd/product_policy.h>
#include <tinymp/autograd/tape.h>
#include <functional>

/// What matmul, linear and conv2d share when their operands are FP8.
namespace tinymp {

/// The operands of a product as they go into its kernel. Backward uses the same ones again: its products are
/// dx = dy . w^T and dw = x^T . dy, of three tensors in FP8.
struct Float8Operands {
  Float8Tensor x, w;
  Tensor weight;  ///< w as it was
  std::shared_ptr<ProductPolicy> policy;

  /// Nothing when the product stays as it is. Throws Error unless `sums` is f32: no other sums of FP8 are there.
  static std::optional<Float8Operands> of(const Tensor& x, const Tensor& w, const char* op, DType sums);

  /// x as backward keeps it: of a product in FP8 the outline, for its gradients are made of the FP8 operands.
  static Tensor kept(const std::optional<Float8Operands>& narrow, const Tensor& x) {
    return narrow ? x.outline() : x;
  }

  Float8Tensor error(const Tensor& dy) const { return policy->error(dy, weight); }
  /// The gradient of the weight, which `product` computes. Where the policy rounds gradients, `product` writes f32, so that
  /// the sums are rounded once.
  Tensor gradient_of_weight(const std::function<void(const View& dw)>& product) const;

  kernels::Float8Product forward() const { return scales(x, w); }
  static kernels::Float8Product scales(const Float8Tensor& a, const Float8Tensor& b);
};

/// The gradients of matmul: dx and dw, where they are needed.
std::vector<Tensor> product_gradients(const Float8Operands& of, const Tensor& x, const Tensor& dy,
                                      const Needs& needs);

}  // namespace tinymp
