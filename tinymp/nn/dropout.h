#pragma once

#include <tinymp/ops/ops.h>

namespace tinymp::nn {

/// Drops values in training, which is when a tape is alive; without one, x itself comes back. Each call with
/// a tape has a mask of its own: `step` counts them, on the device, so that no step waits for it.
struct Dropout {
  float p;             ///< the probability of being dropped
  std::uint64_t seed;  ///< one for each layer, or two layers drop the same places
  Tensor step;         ///< () f64, 0 at first. No parameter: a buffer, so that a run goes on where it stood

  Dropout(float p, std::uint64_t seed);

  Tensor operator()(const Tensor& x) const;
};

}  // namespace tinymp::nn
