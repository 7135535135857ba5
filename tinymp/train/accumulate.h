#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <functional>
#include <span>

/// Gradient accumulation: a step sees more samples than memory holds activations of.
namespace tinymp::train {

/// Forward and backward of micro-batch i under a tape of its own, which begins with `seed`. Returns its loss, the mean over
/// its samples: one value.
using BackwardOf = std::function<Tensor(std::int64_t i, const Tensor& seed)>;

struct Accumulated {
  Tensor loss;  ///< the mean over the samples of all micro-batches
  double
      micro_batches;  ///< their number, in micro-batches as large as the first: Optimizer::gradients() takes it
};

/// Runs all micro-batches, in order; sizes[i] is the number of samples of number i, above 0, and there is at least one. The
/// gradients add up where backward leaves them. Each sample counts alike: the seed of a micro-batch is S times its share of
/// the samples of the first. So gradients of equal micro-batches are neither divided nor multiplied before they are added;
/// LossScaler::unscale() divides the sum by S micro_batches, in FP32.
Accumulated accumulate(std::span<const std::int64_t> sizes, Device device, LossScaler& scaler,
                       const BackwardOf& backward_of);

}  // namespace tinymp::train
