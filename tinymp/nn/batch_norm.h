#pragma once

#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/ops/ops.h>

namespace tinymp::nn {

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
  std::vector<Parameter> parameters(
      const std::string& layer) const;  ///< "norm 1": "norm 1 gamma", "... beta"
};

}  // namespace tinymp::nn
