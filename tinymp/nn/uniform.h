#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/tensor/tensor.h>
#include <vector>

namespace tinymp::nn {

/// First weights: uniform in +- bound, drawn in FP32 and then rounded, so that the same rng gives the same
/// weights under every recipe.
inline Tensor uniform(Shape shape, float bound, DType dtype, Rng& rng) {
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(-bound, bound);
  return Tensor::from(shape, values, dtype).set_requires_grad(true);
}

}  // namespace tinymp::nn
