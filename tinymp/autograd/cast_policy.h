#pragma once

#include <tinymp/tensor/tensor.h>
#include <span>
#include <string_view>
#include <vector>

/// The slot through which autocast acts (amp/autocast.h fills it). Every op begins by asking in which formats
/// it is to have its operands, by the name that it has on the tape:
///
///   Tensor add(const Tensor& a, const Tensor& b) {
///     if (const Recast as = recast("add", a, b)) return add(as[0], as[1]);
///
/// Where no policy is set, that is one comparison.
namespace tinymp {

/// The operands of an op, all of them, in other formats. False: they stay as they are.
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
  /// Operands that need no cast make a Recast that is false: an op whose operands were cast asks once more.
  virtual Recast recast(std::string_view op, std::span<const Tensor* const> operands) = 0;

 protected:
  ~CastPolicy() = default;
};

namespace detail {
inline constinit thread_local CastPolicy* cast_policy = nullptr;
}

/// This thread's, or nullptr.
inline CastPolicy* cast_policy() { return detail::cast_policy; }
/// nullptr: none. Returns the one before.
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
