#pragma once

#include <tinymp/amp/autocast_lists.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/numeric/recipe.h>
#include <map>
#include <vector>

/// Mixed precision without a word in the model: inside the region every op gets its operands in the format
/// that its list names (autocast_lists.h), while the parameters stay FP32.
///
///   Tape tape;
///   const Tensor loss = [&] {
///     const Autocast region(DType::f16);
///     return cross_entropy(model(images), labels);
///   }();
///   tape.backward(scaler.scale(loss));
///
/// A region holds for one thread, from here to the end of the block. Regions nest, the innermost counts; one
/// of DType::f32 casts nothing: inside it ops take what they are given, and refuse mixed formats again. f64
/// is for gradient checks, and never cast.
///
/// A parameter is cast once, however often it is used, until an optimizer steps, another tape begins or the
/// region ends; regions of one format that lie directly in one another share those copies. The uses'
/// gradients are added up in the parameter's own format, and flow back through the one cast.
namespace tinymp {

class Autocast final : public CastPolicy {
 public:
  /// `exceptions` are rules that replace those of the lists. Throws Error unless `format` is f16, bf16 or
  /// f32, and when an exception names no op.
  explicit Autocast(DType format, std::vector<AutocastRule> exceptions = {});
  explicit Autocast(const Recipe& recipe) : Autocast(recipe.autocast) {}
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  static void* operator new(std::size_t) =
      delete;  // on the stack, so that inner regions end before outer ones

  /// How many copies of parameters this region has made.
  std::int64_t casts_of_parameters() const { return copies_->made; }

 private:
  Recast recast(std::string_view op, std::span<const Tensor* const> operands) override;
  RunsIn rule_of(std::string_view op) const;
  Tensor cast_of(const Tensor& x, DType format);

  /// Good under one tape, for one set of values.
  struct Copies {
    struct Copy {
      Tensor parameter, copy;  ///< the parameter is held, so that no other can come to have its id
    };
    std::map<const void*, Copy> by_id;
    std::uint64_t tape = 0, changes = 0;
    std::int64_t made = 0;
  };

  DType format_;
  std::vector<AutocastRule> exceptions_;
  CastPolicy* outer_;
  Copies own_;
  Copies* copies_ = &own_;
};

}  // namespace tinymp
