#include <kernels/kernels.h>
#include <tinymp/nn/first_values.h>
#include <utility>
#include <vector>

namespace tinymp::nn {
namespace {

thread_local bool on_meta = false;

}  // namespace

MetaParameters::MetaParameters() : outer_(std::exchange(on_meta, true)) {}
MetaParameters::~MetaParameters() { on_meta = outer_; }

Tensor uniform(const Shape& shape, float bound, DType dtype, Rng& rng) {
  if (on_meta) return Tensor(shape, dtype, Device::meta).set_requires_grad(true);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(-bound, bound);
  return Tensor::from(shape, values, dtype).set_requires_grad(true);
}

Tensor filled(const Shape& shape, DType dtype, double value) {
  Tensor x(shape, dtype, on_meta ? Device::meta : Device::cpu);
  kernels::fill(x.view(), value);
  return x;
}

}  // namespace tinymp::nn
