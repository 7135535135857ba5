#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/mlp.h>

/// The second question of lesson 01: an autoencoder on a machine that takes FP16's subnormals for zero.
namespace tinymp::lab {

/// y = x, where subnormal halves become zero: forward, and backward of the gradient. Other formats pass
/// untouched.
Tensor flush_subnormals(const Tensor& x);

/// nn::Autoencoder on such a machine: the output of each op is flushed before the next op reads it, and so is
/// the gradient that comes back. `flushes` false: the same ops on a machine that keeps subnormals.
class FlushingAutoencoder : public nn::Model {
 public:
  FlushingAutoencoder(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng, bool flushes)
      : stack_(std::move(widths), recipe, rng), flushes_(flushes) {}
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override { return stack_.parameters(); }
  std::string name() const override { return "autoencoder " + stack_.name(); }

  Tensor handed_on(const Tensor& x) const { return flushes_ ? flush_subnormals(x) : x; }

 private:
  nn::Stack stack_;
  bool flushes_;
};

/// Shows a few small numbers on either machine, trains on both under all seeds, and prints and claims the
/// results.
void ask_about_subnormals(Lab& lab);

}  // namespace tinymp::lab
