#pragma once

#include <tinymp/amp/autocast_lists.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/numeric/recipe.h>
#include <map>
#include <memory>
#include <vector>

/// Mixed precision without a change to the model. Inside a region every op gets its operands in the format
/// that autocast_lists.h names for the op. The parameters stay FP32.
///
///   Tape tape;
///   const Tensor loss = [&] {
///     const Autocast region(DType::f16);
///     return cross_entropy(model(images), labels);
///   }();
///   tape.backward(scaler.scale(loss));
///
/// A region covers one thread and lasts to the end of its block. Regions nest, and the innermost one counts.
/// A region of DType::f32 casts nothing: ops take their operands as they are and refuse mixed formats.
/// Autocast never casts f64, which is for gradient checks.
///
/// Autocast casts a parameter once, even if the model uses it several times. The copy lasts until an
/// optimizer steps, another tape begins or the region ends. If a region lies directly inside another region
/// of the same format, both share their copies. In the backward pass each use of the copy gives one
/// gradient in the narrow format. The tape adds these gradients up in the parameter's format; the sum is the
/// parameter's gradient.
///
/// What recompute() runs a second time runs under the region of the first time, and takes the same copies.
namespace tinymp {

class Autocast final : public CastPolicy {
  /// A key that only Autocast has.
  class Kept {
    friend class Autocast;
    Kept() = default;
  };

 public:
  /// `exceptions` replace rules of the lists. Throws Error when `format` is f64, or when `exceptions` has a rule for
  /// a name that is no op.
  explicit Autocast(DType format, std::vector<AutocastRule> exceptions = {});
  explicit Autocast(const Recipe& recipe) : Autocast(recipe.autocast) {}
  Autocast(const Autocast& region, Kept);  ///< kept(): no region, but its rules and its copies
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  /// Regions live on the stack, so that inner regions end before outer regions.
  static void* operator new(std::size_t) = delete;

  /// Returns the number of copies of parameters made so far. Regions that share copies share the count.
  std::int64_t casts_of_parameters() const { return copies_->made; }

 private:
  Recast recast(std::string_view op, std::span<const Tensor* const> operands) override;
  std::shared_ptr<CastPolicy> kept() const override;
  RunsIn rule_of(std::string_view op) const;
  Tensor cast_of(const Tensor& x, DType format);

  /// Copies of parameters. They are valid under one tape and for one set of parameter values.
  struct Copies {
    /// Keeps the parameter alive: otherwise a new tensor could get the same address, and so the same id.
    struct Copy {
      Tensor parameter, copy;
    };
    std::map<const void*, Copy> by_id;
    std::uint64_t tape = 0, changes = 0;
    std::int64_t made = 0;
  };

  DType format_;
  std::vector<AutocastRule> exceptions_;
  CastPolicy* outer_ = nullptr;
  bool is_region_ = true;
  std::shared_ptr<Copies> copies_;
};

}  // namespace tinymp
