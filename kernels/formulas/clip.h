#pragma once

#include <tinymp/base/host_device.h>
#include <cmath>

/// Clipping gradients by their norm, one text for CPU and GPU.
namespace tinymp::kernels {

/// Returns the norm, the root of `sum_of_squares`. Multiplies `factor` by max_norm / (norm + 1e-6) if this
/// is below 1, as PyTorch's clip_grad_norm_ does. A norm that is not finite leaves `factor` as it is.
// <exercise clip_factor>
TINYMP_HD inline float clip_factor(double sum_of_squares, float max_norm, float& factor) {
  const double norm = std::sqrt(sum_of_squares);
  const double shrink = static_cast<double>(max_norm) / (norm + 1e-6);
  const bool finite = norm - norm == 0;
  if (finite && shrink < 1) factor = static_cast<float>(static_cast<double>(factor) * shrink);
  return static_cast<float>(norm);
}
// </exercise clip_factor>

}  // namespace tinymp::kernels
