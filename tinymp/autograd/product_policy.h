#pragma once

#include <tinymp/tensor/tensor.h>
#include <memory>
#include <utility>

/// The hook for products in FP8 (amp/float8_products.h). matmul, linear and conv2d ask it by their weight:
///
///   if (const std::optional<Float8Operands> narrow = Float8Operands::of(x, w)) ...      (ops/float8_operands.h)
///
/// Without a policy this costs one comparison.
namespace tinymp {

/// A tensor in FP8, and what its values were multiplied with: values = round(scale x).
struct Float8Tensor {
  Tensor values;
  Tensor scale{};  ///< () f32, on the device; empty: 1
};

class ProductPolicy {
 public:
  virtual ~ProductPolicy() = default;
  /// False when the products of this weight stay in the format of their operands.
  virtual bool covers(const Tensor& w) const = 0;
  virtual Float8Tensor activation(const Tensor& x, const Tensor& w) = 0;
  virtual Float8Tensor weight(const Tensor& w) = 0;
  virtual Float8Tensor error(const Tensor& dy, const Tensor& w) = 0;
  /// False when the gradients of weights go as they are into the format of their weight.
  virtual bool rounds_gradients() const = 0;
  /// dw = rounded(sums): the gradient of w out of its sums in f32. dw may be `sums`.
  virtual void round_gradient(const Tensor& sums, const Tensor& dw, const Tensor& w) = 0;
};

namespace detail {
inline thread_local std::shared_ptr<ProductPolicy> product_policy;
}

/// The policy of this thread, or nullptr. Backward uses the policy of the forward pass, which it keeps alive.
inline const std::shared_ptr<ProductPolicy>& product_policy() { return detail::product_policy; }
/// Sets the policy; nullptr means none. Returns the previous one.
inline std::shared_ptr<ProductPolicy> set_product_policy(std::shared_ptr<ProductPolicy> policy) {
  return std::exchange(detail::product_policy, std::move(policy));
}

}  // namespace tinymp
