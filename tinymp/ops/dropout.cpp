#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {

//   y = x / (1 - p) where the mask of (seed, step) keeps a value, else 0
//  dx = dy / (1 - p) there, else 0: the mask is computed again, not kept
Tensor dropout(const Tensor& x, float p, std::uint64_t seed, const Tensor& step) {
  if (const Recast as = recast("dropout", x)) return dropout(as[0], p, seed, step);
  expect_same_device("dropout", x, step);
  expect(p >= 0 && p < 1, "dropout: p is ", p, "; it is a probability below 1");
  expect(step.shape() == Shape{} && step.dtype() == DType::f64, "dropout: the step is ", step.dtype(),
         step.shape(), "; it is one value in f64");
  const auto dropped = [=](const Tensor& t) {
    Tensor y = Tensor::like(t);
    kernels::dropout(t.view(), p, seed, step.view(), y.view());
    return y;
  };
  return record("dropout", {x}, dropped(x),
                [dropped](const Tensor& dy, const Needs&) { return std::vector{dropped(dy)}; });
}

}  // namespace tinymp
