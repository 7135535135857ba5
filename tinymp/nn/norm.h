#pragma once

#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/ops/ops.h>

/// Normalizing layers: batch norm and layer norm. Both begin as y = (x - mean) / deviation.
namespace tinymp::nn {

/// Batch norm over the columns of (B,O), or the channels of images (B,H,W,O). Ioffe and Szegedy 2015 (arXiv
/// 1502.03167), algorithms 1 and 2.
/// While a tape is alive the model trains: the layer uses the mean and variance of the batch, and they update
/// the running averages. Without a tape it uses the running averages, so that the answer for an image does
/// not depend on the other images of the batch.
/// While an optimizer owns gamma, the averages change when it takes its step, batch after batch; a skipped
/// step changes nothing. (In PyTorch forward changes them: one infinity in a skipped step makes them infinite
/// for good.) Without an optimizer, forward changes them. A forward pass that runs again (autograd/recompute.h) does not.
struct BatchNorm {
  Tensor gamma, beta;  ///< (O), recipe.compute or, with fp32_norm_parameters, FP32; 1 and 0 at first
  Tensor running_mean, running_variance;  ///< (O), FP32 (f64 for f64); 0 and 1 at first. They are buffers
  BatchNormOptions options;

  BatchNorm(std::int64_t width, const Recipe& recipe, BatchNormOptions options = {});

  Tensor operator()(const Tensor& x) const;
  /// "norm 1": "norm 1 gamma", "... beta"
  std::vector<Parameter> parameters(const std::string& layer) const;
};

/// Layer norm of the rows of (B,O), or of each pixel's channels (B,H,W,O). The result for a row does not
/// depend on the other rows, in training too. Ba, Kiros and Hinton 2016 (arXiv 1607.06450).
struct LayerNorm {
  Tensor gamma, beta;  ///< (O), recipe.compute; 1 and 0 at first
  LayerNormOptions options;

  LayerNorm(std::int64_t width, const Recipe& recipe, LayerNormOptions options = {});

  Tensor operator()(const Tensor& x) const { return layer_norm(x, gamma, beta, options); }
  /// "norm 1": "norm 1 gamma", "... beta"
  std::vector<Parameter> parameters(const std::string& layer) const;
};

}  // namespace tinymp::nn
