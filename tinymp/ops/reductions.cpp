#include <kernels/kernels.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

//   y = factor sum(x),  dx = factor dy everywhere
Tensor scaled_sum(const char* op, const Tensor& x, double factor) {
  Tensor total(Shape{}, wide(x.dtype()), x.device());
  kernels::sum(x.view(), total.view());
  Tensor y = total;
  if (factor != 1) {
    y = Tensor(Shape{}, total.dtype(), x.device());
    kernels::scale(total.view(), factor, y.view());
  }
  return record(op, {x}, y, [x, factor](const Tensor& dy, const Needs&) {
    Tensor dx(x.shape(), x.dtype(), x.device());
    kernels::broadcast(dy.view(), factor, dx.view());
    return std::vector{dx};
  });
}

}  // namespace

Tensor sum(const Tensor& x) { return scaled_sum("sum", x, 1); }

Tensor mean(const Tensor& x) {
  expect(x.size() > 0, "mean: a tensor of shape ", x.shape(), " has no values");
  return scaled_sum("mean", x, 1 / static_cast<double>(x.size()));
}

}  // namespace tinymp
