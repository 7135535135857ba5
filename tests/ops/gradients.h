#pragma once

#include <tests/op_cases.h>

/// The gradients of one op.
namespace tinymp::test {

/// Inputs that want gradients.
inline std::vector<Tensor> leaves(const OpCase& op, const std::vector<Shape>& shapes, DType dtype,
                                  Device device = Device::cpu) {
  std::vector<Tensor> inputs = inputs_of(op, shapes, dtype, device);
  for (const Tensor& x : inputs) x.set_requires_grad(true);
  return inputs;
}

/// dy for an output: multiples of 1/8, exact in every format.
inline Tensor upstream(const Tensor& y) {
  Rng rng(7);
  std::vector<float> values(static_cast<std::size_t>(y.size()));
  for (float& v : values) v = static_cast<float>(rng.below(33)) / 8 - 2;
  return Tensor::from(y.shape(), values, y.dtype() == DType::f64 ? DType::f32 : y.dtype()).to(y.device());
}

/// The gradients of sum(dy * y), through an op of our own.
inline std::vector<Tensor> gradients(const OpCase& op, const std::vector<Tensor>& inputs) {
  Tape tape;
  const Tensor y = op.call(inputs);
  const Tensor dy = cast(upstream(y), y.dtype());
  const Tensor loss = record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                             [dy](const Tensor&, const Needs&) { return std::vector{dy}; });
  tape.backward(loss);
  std::vector<Tensor> grads;
  for (const Tensor& x : inputs) grads.push_back(x.grad());
  return grads;
}

}  // namespace tinymp::test
