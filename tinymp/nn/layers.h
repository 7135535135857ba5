#pragma once

#include <tinymp/nn/linear.h>

/// Every layer but the linear one. They stand apart so that ./learn quickstart need not compile them.
namespace tinymp::nn {

/// y = conv2d(x, weight) + bias      (B,Ho,Wo,O) = (B,H,W,I) * (k,k,I,O) + (O)
struct Conv2d {
  struct Sizes {
    std::int64_t inputs, outputs;  ///< channels
    std::int64_t size;             ///< of the window, down and across
    std::int64_t stride = 1, padding = 0;
    bool bias = true;
  };

  Tensor weight;  ///< (k,k,I,O), recipe.compute: uniform in +- gain / sqrt(k k I)
  Tensor bias;    ///< (O), uniform in +- 1 / sqrt(k k I) at first; or no tensor: where batch norm follows
  Conv2dOptions options;

  /// The same rng gives the same weights under every recipe, but for their rounding.
  Conv2d(const Sizes& sizes, const Recipe& recipe, Rng& rng, float gain = gain_default);

  Tensor operator()(const Tensor& x) const;
  /// "in": "in weight", and "in bias" if any
  std::vector<Parameter> parameters(const std::string& layer) const;
};

/// Batch norm over the columns of (B,O), or the channels of images (B,H,W,O). Training is when a tape is
/// alive: then the batch's own mean and variance are used, and they move the running averages. Without a tape
/// those averages stand in for them, so that what a model answers does not depend on which images it is shown
/// together. Ioffe and Szegedy 2015 (arXiv 1502.03167), algorithms 1 and 2.
/// While an optimizer has gamma, the averages move when it takes its step, batch after batch; a step that is
/// skipped moves nothing. (In PyTorch forward moves them: one infinity in a skipped step, and they are
/// infinite for good.) Where no optimizer has gamma, forward moves them.
struct BatchNorm {
  Tensor gamma, beta;  ///< (O), recipe.compute or, with fp32_norm_parameters, FP32; 1 and 0 at first
  Tensor running_mean, running_variance;  ///< (O), FP32 (f64 of f64); 0 and 1 at first. No parameters
  BatchNormOptions options;

  BatchNorm(std::int64_t width, const Recipe& recipe, BatchNormOptions options = {});

  Tensor operator()(const Tensor& x) const;
  /// "norm 1": "norm 1 gamma", "... beta"
  std::vector<Parameter> parameters(const std::string& layer) const;
};

/// Layer norm of the rows of (B,O), or of each pixel's channels (B,H,W,O): a row alone gets the answer that
/// it gets among others, in training too. Ba, Kiros and Hinton 2016 (arXiv 1607.06450).
struct LayerNorm {
  Tensor gamma, beta;  ///< (O), recipe.compute; 1 and 0 at first
  LayerNormOptions options;

  LayerNorm(std::int64_t width, const Recipe& recipe, LayerNormOptions options = {});

  Tensor operator()(const Tensor& x) const { return layer_norm(x, gamma, beta, options); }
  /// "norm 1": "norm 1 gamma", "... beta"
  std::vector<Parameter> parameters(const std::string& layer) const;
};

/// Drops values in training, which is when a tape is alive; without one, x itself comes back. Each call with
/// a tape has a mask of its own: `step` counts them, on the device, so that no step waits for it.
struct Dropout {
  float p;             ///< the probability of being dropped
  std::uint64_t seed;  ///< one for each layer, or two layers drop the same places
  Tensor step;         ///< () f64, 0 at first. No parameter: a buffer, so that a run goes on where it stood

  Dropout(float p, std::uint64_t seed);

  Tensor operator()(const Tensor& x) const;
};

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
