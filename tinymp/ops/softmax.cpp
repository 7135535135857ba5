#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {

//   y = exp(x) / sum over c of exp(x)          (B,C)
//  dx = y (dy - sum over c of dy y)
Tensor softmax(const Tensor& x) {
  if (const Recast as = recast("softmax", x)) return softmax(as[0]);
  expect_rows("softmax", x);
  Tensor y = Tensor::like(x);
  kernels::softmax(x.view(), y.view());
  return record({"softmax", wide(x.dtype())}, {x}, y, [y](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(y);
    kernels::softmax_backward(y.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

//   y = x - log sum over c of exp(x)           (B,C)
//  dx = dy - softmax(x) sum over c of dy
Tensor log_softmax(const Tensor& x) {
  if (const Recast as = recast("log_softmax", x)) return log_softmax(as[0]);
  expect_rows("log_softmax", x);
  Tensor y = Tensor::like(x);
  kernels::log_softmax(x.view(), y.view());
  return record({"log_softmax", wide(x.dtype())}, {x}, y, [x](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    kernels::log_softmax_backward(x.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

}  // namespace tinymp
