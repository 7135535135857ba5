#pragma once

#include <tinymp/nn/linear.h>

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
  std::vector<Parameter> parameters(
      const std::string& layer) const;  ///< "in": "in weight", and "in bias" if any
};

}  // namespace tinymp::nn
