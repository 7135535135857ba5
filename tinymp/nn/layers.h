#pragma once

#include <tinymp/nn/linear.h>

/// Layers of models beyond the plain MLP: convolution, dropout, LSTM. Norms are in norm.h, the linear layer is in
/// linear.h; ./learn quickstart compiles the linear layer alone.
namespace tinymp::nn {

/// y = conv2d(x, weight) + bias      (B,Ho,Wo,O) = (B,H,W,I) * (k,k,I,O) + (O)
struct Conv2d {
  struct Sizes {
    std::int64_t inputs, outputs;  ///< channels
    std::int64_t size;             ///< the window's pixels, down and across
    std::int64_t stride = 1, padding = 0;
    bool bias = true;
  };

  Tensor weight;  ///< (k,k,I,O), recipe.compute: uniform in +- gain / sqrt(k k I)
  Tensor bias;    ///< (O), uniform in +- 1 / sqrt(k k I) at first; empty when batch norm follows
  Conv2dOptions options;

  /// The same rng gives the same weights under every recipe, except for rounding.
  Conv2d(const Sizes& sizes, const Recipe& recipe, Rng& rng, float gain = gain_default);

  Tensor operator()(const Tensor& x) const;
  /// "in": "in weight", and "in bias" if any
  std::vector<Parameter> parameters(const std::string& layer) const;
};

/// Drops values while a tape is alive, which is in training. Without a tape it returns x itself. Each call
/// with a tape has a new mask; `step` counts the calls on the device, so that no step waits for it.
struct Dropout {
  float p;             ///< the probability of being dropped
  std::uint64_t seed;  ///< different for each layer, or two layers drop the same places
  Tensor step;         ///< () f64, 0 at first. It is a buffer, so that a run can continue

  Dropout(float p, std::uint64_t seed);

  Tensor operator()(const Tensor& x) const;
  /// The step of a mask on a device, for an op that drops by itself; the count goes on, but not where the op runs again
  /// (autograd/recompute.h).
  Tensor next_step(Device device) const;
};

/// A layer of long short-term memory: Hochreiter and Schmidhuber 1997, with the forget gate of Gers,
/// Schmidhuber and Cummins 2000. z has four parts of H columns each: i, f, g and o. Each step computes:
///   z = x . from_input + bias + h . from_state      (B,4H) = (B,I)(I,4H) + (4H) + (B,H)(H,4H)
///   c = sigmoid(f) c + sigmoid(i) tanh(g)           (B,H), the cell: 0 before the first step
///   h = sigmoid(o) tanh(c)                          (B,H), the output: 0 before the first step
/// c and h begin in x's format. Under autocast x is FP32, so only the products are FP16. The cell is FP32,
/// because `multiply` and `add` take the widest format. (The cell of PyTorch's fused LSTM is FP16.)
struct Lstm {
  Tensor from_input;  ///< (I,4H), recipe.compute; uniform in +- 1 / sqrt(H) at first
  Tensor from_state;  ///< (H,4H), the same
  Tensor bias;        ///< (4H), at first 1 for f, so that a cell remembers until it learns to forget; else 0
  DType accumulate;

  struct State {
    Tensor h, c;
  };

  /// The same rng gives the same weights under every recipe, except for rounding.
  Lstm(std::int64_t inputs, std::int64_t hidden, const Recipe& recipe, Rng& rng);

  std::int64_t hidden() const { return from_state.shape()[0]; }
  State step(const Tensor& from_x, const State& before) const;  ///< from_x:(B,4H) = x . from_input + bias

  /// Returns h after every step, (B T,H), from inputs (B T,I): T = `steps` rows for each of B texts, one text
  /// after another. The product of the inputs and from_input is computed once for all steps. Each step is a block
  /// (segments.h).
  Tensor operator()(const Tensor& x, std::int64_t steps) const;

  /// "lstm": "lstm from_input", ...
  std::vector<Parameter> parameters(const std::string& layer) const;
};

}  // namespace tinymp::nn
