#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/ops/ops.h>

namespace tinymp::nn {

/// A layer of long short-term memory: Hochreiter and Schmidhuber 1997, with the forget gate of Gers,
/// Schmidhuber and Cummins 2000. At each step, i, f, g and o being H columns of z each, in this order:
///   z = x . from_input + bias + h . from_state      (B,4H) = (B,I)(I,4H) + (4H) + (B,H)(H,4H)
///   c = sigmoid(f) c + sigmoid(i) tanh(g)           (B,H), the cell: 0 before the first step
///   h = sigmoid(o) tanh(c)                          (B,H), what the layer says: 0 before the first step
/// Both begin in x's format. So under autocast, where x is FP32, only the products are
/// FP16: the cell is FP32, as `multiply` and `add` take the widest format. (PyTorch's fused LSTM has FP16.)
struct Lstm {
  Tensor from_input;  ///< (I,4H), recipe.compute; uniform in +- 1 / sqrt(H) at first
  Tensor from_state;  ///< (H,4H), the same
  Tensor bias;        ///< (4H), 1 for f, so that a cell remembers until it learns to forget; else 0, at first
  DType accumulate;

  struct State {
    Tensor h, c;
  };

  /// The same rng gives the same weights under every recipe, but for their rounding.
  Lstm(std::int64_t inputs, std::int64_t hidden, const Recipe& recipe, Rng& rng);

  std::int64_t hidden() const { return from_state.shape()[0]; }
  State step(const Tensor& from_x, const State& before) const;  ///< from_x:(B,4H) = x . from_input + bias

  /// h after every step, (B T,H), of inputs (B T,I): T = `steps` rows for each of B texts, one text behind
  /// the other. What the inputs give to z is one product for all steps.
  Tensor operator()(const Tensor& x, std::int64_t steps) const;

  std::vector<Parameter> parameters(const std::string& layer) const;  ///< "lstm": "lstm from_input", ...
};

}  // namespace tinymp::nn
