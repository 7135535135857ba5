#pragma once

#include <tinymp/nn/linear.h>

namespace tinymp::nn {

/// Linear layers one after the other; {784, 64, 10} is one hidden layer of 64.
struct Stack {
  std::vector<std::int64_t> widths;
  std::vector<Linear> layers;

  Stack(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng);
  std::vector<Parameter> parameters() const;  ///< "layer 1 weight", "layer 1 bias", "layer 2 weight", ...
  std::string name() const;                   ///< "784-64-10"
  std::int64_t hidden() const { return std::ssize(layers) - 1; }
  /// All layers but the last, each with f, as blocks of a model (segments.h).
  Tensor run_hidden(const Tensor& x, Activation f) const;
};

/// Linear layers with relu between them.      (B,784) -> (B,C) logits
class Mlp : public Model {
 public:
  Mlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng)
      : stack_(std::move(widths), recipe, rng) {}
  Tensor operator()(const Tensor& images) const override;
  std::int64_t blocks() const override { return stack_.hidden(); }
  std::vector<Parameter> parameters() const override { return stack_.parameters(); }
  std::string name() const override { return "mlp " + stack_.name(); }

 private:
  Stack stack_;
};

/// Linear layers with a sigmoid after each, so every pixel is between 0 and 1.     (B,784) -> (B,784)
class Autoencoder : public Model {
 public:
  /// widths: {784, 64, 32, 64, 784} squeezes an image into 32 numbers and back.
  Autoencoder(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng)
      : stack_(std::move(widths), recipe, rng) {}
  Tensor operator()(const Tensor& images) const override;
  std::int64_t blocks() const override { return stack_.hidden(); }
  std::vector<Parameter> parameters() const override { return stack_.parameters(); }
  std::string name() const override { return "autoencoder " + stack_.name(); }

 private:
  Stack stack_;
};

}  // namespace tinymp::nn
