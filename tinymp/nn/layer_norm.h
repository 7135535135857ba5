#pragma once

#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/ops/ops.h>

namespace tinymp::nn {

/// Layer norm of the rows of (B,O), or of each pixel's channels (B,H,W,O): a row alone gets the answer that
/// it gets among others, in training too. Ba, Kiros and Hinton 2016 (arXiv 1607.06450).
struct LayerNorm {
  Tensor gamma, beta;  ///< (O), recipe.compute; 1 and 0 at first
  LayerNormOptions options;

  LayerNorm(std::int64_t width, const Recipe& recipe, LayerNormOptions options = {});

  Tensor operator()(const Tensor& x) const { return layer_norm(x, gamma, beta, options); }
  std::vector<Parameter> parameters(
      const std::string& layer) const;  ///< "norm 1": "norm 1 gamma", "... beta"
};

}  // namespace tinymp::nn
