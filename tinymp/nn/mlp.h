#pragma once

#include <tinymp/nn/model.h>

namespace tinymp::nn {

/// Linear layers with relu between them.      (B,784) -> (B,C) logits
class Mlp : public Model {
 public:
  /// widths: {784, 64, 10} is one hidden layer of 64.
  Mlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng);
  Tensor operator()(const Tensor& images) const override;
  std::vector<Tensor> parameters() const override;
  std::string name() const override;

 private:
  std::vector<std::int64_t> widths_;
  std::vector<Linear> layers_;
};

/// Linear layers with a sigmoid after each, the last too.      (B,784) -> (B,784), every pixel between 0 and
/// 1
class Autoencoder : public Model {
 public:
  /// widths: {784, 64, 32, 64, 784} squeezes an image into 32 numbers and back.
  Autoencoder(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng);
  Tensor operator()(const Tensor& images) const override;
  std::vector<Tensor> parameters() const override;
  std::string name() const override;

 private:
  std::vector<std::int64_t> widths_;
  std::vector<Linear> layers_;
};

/// A first layer, then blocks x + W2 relu(W1 x) without normalisation, He-initialised, then the logits. Every
/// block adds its own variance, so activations and gradients grow with the depth: FP16's upper end comes into
/// sight.
class ResidualMlp : public Model {
 public:
  ResidualMlp(std::int64_t width, int blocks, const Recipe& recipe, Rng& rng);  // (B,784) -> (B,10)
  Tensor operator()(const Tensor& images) const override;
  std::vector<Tensor> parameters() const override;
  std::string name() const override;

 private:
  struct Block {
    Linear first, second;
  };
  Linear in_;
  std::vector<Block> blocks_;
  Linear out_;
};

}  // namespace tinymp::nn
