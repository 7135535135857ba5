#pragma once

#include <kernels/cuda/cuda.h>
#include <kernels/executors.h>
#include <utility>

/// Bias and activation behind a product: in its own kernel where that can do them, else in kernels of their own.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// Takes out of `rest` what kernels for tensor cores do themselves: the memory of a bias (nullptr: none), and relu.
inline std::pair<const void*, bool> taken_from(Epilogue& rest, const View& y) {
  const View bias = rest.bias;
  if (bias.memory != nullptr && bias.dtype != y.dtype) return {nullptr, false};  // add_bias() refuses it
  rest.bias = {};
  const bool relu = rest.activation == Unary::relu;
  if (relu) rest.activation.reset();
  return {bias.memory, relu};
}

inline void finish(const Epilogue& rest, const View& y) {
  if (rest.bias.memory != nullptr) TINYMP_EXECUTOR::add_bias(y, rest.bias, y);
  if (rest.activation) TINYMP_EXECUTOR::unary(*rest.activation, y, y);
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
