#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

//   y = sum(x) / divisor,  dx = dy / divisor everywhere
Tensor divided_sum(const char* op, const Tensor& x, double divisor) {
  if (const Recast as = recast(op, x)) return divided_sum(op, as[0], divisor);
  Tensor y(Shape{}, wide(x.dtype()), x.device());
  kernels::sum(x.view(), divisor, y.view());
  return record({op, y.dtype()}, {x}, y, [x, divisor](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    kernels::broadcast(dy.view(), divisor, dx.view());
    return std::vector{dx};
  });
}

}  // namespace

Tensor sum(const Tensor& x) { return divided_sum("sum", x, 1); }

Tensor mean(const Tensor& x) {
  expect(x.size() > 0, "mean: a tensor of shape ", x.shape(), " has no values");
  return divided_sum("mean", x, static_cast<double>(x.size()));
}

}  // namespace tinymp
