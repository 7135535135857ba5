#pragma once

#include <kernels/kernels.h>
#include <tinymp/tensor/tensor.h>

namespace tinymp::nn {

/// The same value everywhere.
inline Tensor filled(const Shape& shape, DType dtype, double value) {
  Tensor x(shape, dtype);
  kernels::fill(x.view(), value);
  return x;
}

}  // namespace tinymp::nn
