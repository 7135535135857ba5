#include <tinymp/nn/dropout.h>
#include <tinymp/nn/filled.h>

namespace tinymp::nn {

Dropout::Dropout(float probability, std::uint64_t of_layer)
    : p(probability), seed(of_layer), step(filled({}, DType::f64, 0)) {
  expect(p >= 0 && p < 1, "Dropout: p is ", p, "; it is a probability below 1");
}

Tensor Dropout::operator()(const Tensor& x) const {
  if (Tape::current() == nullptr) return x;
  if (step.device() != x.device()) step.move_to(x.device());
  // Backward looks at the step again, when the count has gone on: it gets a copy.
  const Tensor now(Shape{}, DType::f64, x.device()), one(Shape{}, DType::f64, x.device());
  kernels::cast(step.view(), now.view());
  kernels::fill(one.view(), 1);
  kernels::accumulate(one.view(), step.view());
  return dropout(x, p, seed, now);
}

}  // namespace tinymp::nn
