#pragma once

#include <tinymp/tensor/tensor.h>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

/// The hook for autocast (amp/autocast.h). Every op first asks for the formats of its operands, by its name
/// on the tape:
///
///   Tensor add(const Tensor& a, const Tensor& b) {
///     if (const Recast as = recast("add", a, b)) return add(as[0], as[1]);
///
/// Without a policy this costs one comparison.
namespace tinymp {

/// All operands of an op, cast. False when no operand needs a cast.
class Recast {
 public:
  Recast() = default;
  explicit Recast(std::vector<Tensor> operands) : operands_(std::move(operands)) {}
  explicit operator bool() const { return !operands_.empty(); }
  const Tensor& operator[](std::size_t i) const { return operands_[i]; }
  const std::vector<Tensor>& all() const { return operands_; }

 private:
  std::vector<Tensor> operands_;
};

class CastPolicy {
 public:
  /// Returns a Recast that is false when no operand needs a cast: an op asks again with its cast operands.
  virtual Recast recast(std::string_view op, std::span<const Tensor* const> operands) = 0;
  /// The same policy for later, when this one may be gone: ops that run a second time run under it (recompute.h).
  virtual std::shared_ptr<CastPolicy> kept() const = 0;

 protected:
  ~CastPolicy() = default;
};

namespace detail {
inline constinit thread_local CastPolicy* cast_policy = nullptr;
}

/// The policy of this thread, or nullptr.
inline CastPolicy* cast_policy() { return detail::cast_policy; }
/// Sets the policy; nullptr means none. Returns the previous one.
inline CastPolicy* set_cast_policy(CastPolicy* policy) { return std::exchange(detail::cast_policy, policy); }

template <class... Tensors>
Recast recast(std::string_view op, const Tensors&... operands) {
  if (cast_policy() == nullptr) return {};
  const Tensor* const all[]{&operands...};
  return cast_policy()->recast(op, all);
}

/// For an op that takes any number of operands.
inline Recast recast(std::string_view op, const std::vector<Tensor>& operands) {
  if (cast_policy() == nullptr) return {};
  std::vector<const Tensor*> all;
  for (const Tensor& x : operands) all.push_back(&x);
  return cast_policy()->recast(op, all);
}

}  // namespace tinymp
