#pragma once

#include <kernels/kernels.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/nn/module.h>
#include <memory>
#include <utility>
#include <vector>

/// Models around other models: they train and answer as the inner one does, and do something beside it.
namespace tinymp::lab {

class Wrapped : public nn::Model {
 public:
  explicit Wrapped(std::unique_ptr<nn::Model> inner) : inner_(std::move(inner)) {}
  std::vector<nn::Parameter> parameters() const override { return inner_->parameters(); }
  std::vector<Tensor> buffers() const override { return inner_->buffers(); }
  std::string name() const override { return inner_->name(); }

 protected:
  const nn::Model& inner() const { return *inner_; }

 private:
  std::unique_ptr<nn::Model> inner_;
};

/// Weights that lie in eight bits, without a master. No kernel updates an FP8 weight, so this emulates it: the optimizer
/// updates in FP32, and before each use every parameter is rounded to FP8. What the rounding takes away is lost, as
/// there is no other copy. The model computes in FP32.
class Stored final : public Wrapped {
 public:
  Stored(std::unique_ptr<nn::Model> inner, DType format, Rounding rounding, std::uint64_t seed);
  Tensor operator()(const Tensor& images) const override;
  /// The share of the updates since the beginning that did not change their weight.
  double lost() const { return static_cast<double>(lost_) / static_cast<double>(updates_); }

 private:
  void store(std::size_t i, const Tensor& p) const;
  /// What an update changed, and what of it the rounding took.
  void count(const Tensor& updated, const Tensor& before, const Tensor& kept) const;

  DType format_;
  Rounding rounding_;
  std::uint64_t seed_;
  Tensor uses_;                         ///< () f64: each rounding has random words of its own
  mutable std::vector<Tensor> before_;  ///< the parameters as they were stored last
  mutable std::int64_t lost_ = 0, updates_ = 0;
};

/// A model whose gradients are infinite for about one batch in `often`, whatever S is, and for no reason. Which batches
/// these are depends on their first image alone. The loss stays as it is.
class Disturbed final : public Wrapped {
 public:
  Disturbed(std::unique_ptr<nn::Model> inner, int often) : Wrapped(std::move(inner)), often_(often) {}
  Tensor operator()(const Tensor& images) const override;

 private:
  int often_;
};

}  // namespace tinymp::lab
