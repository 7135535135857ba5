#pragma once

#include <tinymp/nn/batch_norm.h>
#include <tinymp/nn/model.h>

namespace tinymp::nn {

/// Linear layers one after the other; {784, 64, 10} is one hidden layer of 64.
struct Stack {
  std::vector<std::int64_t> widths;
  std::vector<Linear> layers;

  Stack(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng);
  std::vector<Parameter> parameters() const;  ///< "layer 1 weight", "layer 1 bias", "layer 2 weight", ...
  std::string name() const;                   ///< "784-64-10"
};

/// Linear layers with relu between them.      (B,784) -> (B,C) logits
class Mlp : public Model {
 public:
  Mlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng)
      : stack_(std::move(widths), recipe, rng) {}
  Tensor operator()(const Tensor& images) const override;
  std::vector<Parameter> parameters() const override { return stack_.parameters(); }
  std::string name() const override { return "mlp " + stack_.name(); }

 private:
  Stack stack_;
};

/// An Mlp with batch norm between each hidden layer and its relu.      (B,784) -> (B,C) logits
class BatchNormMlp : public Model {
 public:
  BatchNormMlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng, Accumulation sums = {});
  Tensor operator()(const Tensor& images) const override;
  std::vector<Parameter> parameters() const override;  ///< "layer 1 bias", "norm 1 gamma"
  std::vector<Tensor> buffers() const override;
  std::string name() const override { return "batch norm mlp " + stack_.name(); }

 private:
  Stack stack_;
  std::vector<BatchNorm> norms_;
};

/// Linear layers with a sigmoid after each, the last too: every pixel between 0 and 1.     (B,784) -> (B,784)
class Autoencoder : public Model {
 public:
  /// widths: {784, 64, 32, 64, 784} squeezes an image into 32 numbers and back.
  Autoencoder(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng)
      : stack_(std::move(widths), recipe, rng) {}
  Tensor operator()(const Tensor& images) const override;
  std::vector<Parameter> parameters() const override { return stack_.parameters(); }
  std::string name() const override { return "autoencoder " + stack_.name(); }

 private:
  Stack stack_;
};

/// A first layer, then blocks x + W2 relu(W1 x) without normalisation, He-initialised, then the logits. Every
/// block adds its own variance, so activations and gradients grow with the depth: FP16's upper end comes into
/// sight.
class ResidualMlp : public Model {
 public:
  ResidualMlp(std::int64_t width, int blocks, const Recipe& recipe, Rng& rng);  // (B,784) -> (B,10)
  Tensor operator()(const Tensor& images) const override;
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
