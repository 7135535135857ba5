#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

using kernels::Window;

/// The window of a pool, and an output (B,Ho,Wo,C) not yet written.
Tensor output(const char* op, const Tensor& x, const Window& window) {
  expect(x.shape().rank() == 4, op, ": x", x.shape(), "; x is (B,H,W,C)");
  expect(window.height > 0 && window.width > 0 && window.stride > 0, op, ": a window of ", window.height,
         " x ", window.width, " and a stride of ", window.stride, "; all must be above 0");
  expect(x.shape()[1] * x.shape()[2] * x.shape()[3] < std::int64_t{1} << 31, op, ": images x", x.shape(),
         " have more than 2^31 values each, too many to remember where the largest lies");
  const std::int64_t down = kernels::places(x.shape()[1], window.height, window),
                     across = kernels::places(x.shape()[2], window.width, window);
  expect(down > 0 && across > 0, op, ": a window of ", window.height, " x ", window.width,
         " is larger than the images x", x.shape());
  return Tensor({x.shape()[0], down, across, x.shape()[3]}, x.dtype(), x.device());
}

//   y = mean of each window        (B,Ho,Wo,C) out of (B,H,W,C)
//  dx = sum of dy / (height width) over the windows that hold the pixel
Tensor average(const char* op, const Tensor& x, const Window& window) {
  if (const Recast as = recast(op, x)) return average(op, as[0], window);
  const Tensor y = output(op, x, window);
  kernels::avg_pool2d(x.view(), window, y.view());
  return record({op, wide(x.dtype())}, {x}, y, [x, window](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    kernels::avg_pool2d_backward(dy.view(), window, dx.view());
    return std::vector{dx};
  });
}

}  // namespace

//   y = largest of each window     (B,Ho,Wo,C) out of (B,H,W,C)
//  dx = sum of dy over the windows whose largest value lies here
Tensor max_pool2d(const Tensor& x, std::int64_t size, std::int64_t stride) {
  if (const Recast as = recast("max_pool2d", x)) return max_pool2d(as[0], size, stride);
  const Window window{size, size, stride};
  const Tensor y = output("max_pool2d", x, window);
  kernels::max_pool2d(x.view(), window, y.view());
  return record("max_pool2d", {x}, y, [x, window](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    kernels::max_pool2d_backward(x.view(), dy.view(), window, dx.view());
    return std::vector{dx};
  });
}

Tensor avg_pool2d(const Tensor& x, std::int64_t size, std::int64_t stride) {
  return average("avg_pool2d", x, {size, size, stride});
}

Tensor global_avg_pool2d(const Tensor& x) {
  expect(x.shape().rank() == 4, "global_avg_pool2d: x", x.shape(), "; x is (B,H,W,C)");
  const Tensor y = average("global_avg_pool2d", x, {x.shape()[1], x.shape()[2]});
  return reshape(y, {x.shape()[0], x.shape()[3]});
}

}  // namespace tinymp
