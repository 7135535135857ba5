#pragma once

#include <tinymp/nn/linear.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/norm.h>

/// Deeper relatives of the Mlp: with batch norm, and with residual blocks.
namespace tinymp::nn {

/// An Mlp with batch norm between each hidden layer and its relu.      (B,784) -> (B,C) logits
class BatchNormMlp : public Model {
 public:
  BatchNormMlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng, Accumulation sums = {});
  Tensor operator()(const Tensor& images) const override;
  std::int64_t blocks() const override { return std::ssize(norms_); }
  std::vector<Parameter> parameters() const override;  ///< "layer 1 bias", "norm 1 gamma"
  std::vector<Tensor> buffers() const override;
  std::string name() const override { return "batch norm mlp " + stack_.name(); }

 private:
  Stack stack_;
  std::vector<BatchNorm> norms_;
};

/// A first layer, then blocks x + W2 relu(W1 x) without normalisation, He-initialised, then the logits. Every
/// block adds variance, so activations and gradients grow with the depth, towards the largest FP16 number.
class ResidualMlp : public Model {
 public:
  ResidualMlp(std::int64_t width, int blocks, const Recipe& recipe, Rng& rng);  // (B,784) -> (B,10)
  Tensor operator()(const Tensor& images) const override;
  std::int64_t blocks() const override { return std::ssize(blocks_); }
  std::vector<Parameter> parameters() const override;  ///< "in weight", "block 3 second weight", "out bias"
  std::string name() const override;

 private:
  struct Block {
    Linear first, second;
  };
  static std::vector<Block> make_blocks(std::int64_t width, int blocks, const Recipe& recipe, Rng& rng);

  Linear in_;
  std::vector<Block> blocks_;
  Linear out_;
};

}  // namespace tinymp::nn
