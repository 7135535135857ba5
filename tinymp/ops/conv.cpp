#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/float8_operands.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

kernels::Window window_of(const Tensor& w, const Conv2dOptions& options) {
  return {w.shape()[0], w.shape()[1], options.stride, options.padding};
}

Shape output_shape(const Tensor& x, const Tensor& w, const Conv2dOptions& options) {
  expect_same_dtype("conv2d", x, w);
  expect(x.shape().rank() == 4 && w.shape().rank() == 4 && x.shape()[3] == w.shape()[2], "conv2d: x",
         x.shape(), " and w", w.shape(), " do not fit: x is (B,H,W,I), w is (kh,kw,I,O)");
  expect(w.size() > 0, "conv2d: w", w.shape(), " has no values");
  expect(options.stride > 0 && options.padding >= 0, "conv2d: a stride of ", options.stride,
         " and a padding of ", options.padding, "; the stride must be above 0, the padding not below it");
  const kernels::Window window = window_of(w, options);
  const std::int64_t down = kernels::places(x.shape()[1], window.height, window),
                     across = kernels::places(x.shape()[2], window.width, window);
  expect(down > 0 && across > 0, "conv2d: a window w", w.shape(), " is larger than the images x", x.shape(),
         " with a padding of ", options.padding);
  const bool f64_sums = options.accumulate == DType::f64 && x.dtype() == DType::f64;
  expect(f64_sums || options.accumulate == DType::f32 || options.accumulate == DType::f16, "conv2d: sums of ",
         x.dtype(), " values are kept in f32 or f16, not ", options.accumulate);
  return {x.shape()[0], down, across, w.shape()[3]};
}

/// dx and dw, in a list as long as the inputs.
std::vector<Tensor> filter_gradients(const std::vector<Tensor>& inputs, const kernels::Window& window,
                                     DType accumulate, const Tensor& dy, const Needs& needs) {
  const Tensor &x = inputs[0], &w = inputs[1];
  std::vector<Tensor> grads(inputs.size());
  if (needs(0)) {
    grads[0] = x.place_for_grad();
    kernels::conv2d_dx(dy.view(), w.view(), window, grads[0].view(), accumulate, {});
  }
  if (needs(1)) {
    grads[1] = w.place_for_grad();
    kernels::conv2d_dw(x.view(), dy.view(), window, grads[1].view(), accumulate, {});
  }
  return grads;
}

/// The same for operands in FP8.
std::vector<Tensor> filter_gradients(const Float8Operands& of, const std::vector<Tensor>& inputs,
                                     const kernels::Window& window, const Tensor& dy, const Needs& needs) {
  const Float8Tensor error = of.error(dy);
  std::vector<Tensor> grads(inputs.size());
  if (needs(0)) {
    grads[0] = inputs[0].place_for_grad();
    kernels::conv2d_dx(error.values.view(), of.w.values.view(), window, grads[0].view(), DType::f32,
                       Float8Operands::scales(error, of.w));
  }
  if (needs(1)) {
    grads[1] = of.gradient_of_weight([&](const View& dw) {
      kernels::conv2d_dw(of.x.values.view(), error.values.view(), window, dw, DType::f32,
                         Float8Operands::scales(of.x, error));
    });
  }
  return grads;
}

//   y = x * w + bias   (B,Ho,Wo,O) = (B,H,W,I) * (kh,kw,I,O) + (O): every window, as a row, times w as a
//   matrix
//  dx = dy * w         (B,H,W,I): each pixel gets back from every window that it was in
//  dw = x * dy         (kh,kw,I,O): summed over all places of the window
//  db = sum of dy      (O): over all pixels
Tensor convolve(const std::vector<Tensor>& inputs, const Conv2dOptions& options) {
  const Tensor x = inputs[0], w = inputs[1];
  Tensor y(output_shape(x, w, options), x.dtype(), x.device());
  const kernels::Window window = window_of(w, options);
  const View bias = inputs.size() == 3 ? inputs[2].view() : View{};
  const std::optional<Float8Operands> narrow = Float8Operands::of(x, w, "conv2d", options.accumulate);
  if (narrow) {
    kernels::conv2d(narrow->x.values.view(), narrow->w.values.view(), window, y.view(), DType::f32,
                    {.bias = bias, .float8 = narrow->forward()});
  } else {
    kernels::conv2d(x.view(), w.view(), window, y.view(), options.accumulate, {.bias = bias});
  }
  std::vector<Tensor> kept = inputs;
  kept[0] = Float8Operands::kept(narrow, x);
  record({"conv2d", sums_of(x, options.accumulate)}, inputs, y,
         [kept, window, accumulate = options.accumulate, narrow](const Tensor& dy, const Needs& needs) {
           std::vector<Tensor> grads = narrow ? filter_gradients(*narrow, kept, window, dy, needs)
                                              : filter_gradients(kept, window, accumulate, dy, needs);
           if (kept.size() == 3 && needs(2)) {
             grads[2] = kept[2].place_for_grad();
             kernels::column_sums(dy.view(), grads[2].view());
           }
           return grads;
         });
  if (narrow) Tape::let_go(x);
  return y;
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& w, Conv2dOptions options) {
  if (const Recast as = recast("conv2d", x, w)) return conv2d(as[0], as[1], options);
  return convolve({x, w}, options);
}

Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, Conv2dOptions options) {
  if (const Recast as = recast("conv2d", x, w, bias)) return conv2d(as[0], as[1], as[2], options);
  expect_same_dtype("conv2d", x, bias);
  expect(w.shape().rank() == 4 && bias.shape() == Shape{w.shape()[3]}, "conv2d: w", w.shape(), " and bias",
         bias.shape(), " do not fit: w is (kh,kw,I,O), bias is (O)");
  return convolve({x, w, bias}, options);
}

//   y = x at every stride-th pixel, then zeros     (B,Ho,Wo,O) out of (B,H,W,C)
//  dx = dy at those pixels, zeros elsewhere
Tensor subsample(const Tensor& x, std::int64_t stride, std::int64_t channels) {
  if (const Recast as = recast("subsample", x)) return subsample(as[0], stride, channels);
  expect(x.shape().rank() == 4, "subsample: x", x.shape(), "; x is (B,H,W,C)");
  expect(stride > 0, "subsample: a stride of ", stride, "; it must be above 0");
  expect(channels >= x.shape()[3], "subsample: x", x.shape(), " has more than ", channels, " channels");
  const auto every = [stride](std::int64_t extent) { return (extent + stride - 1) / stride; };
  Tensor y({x.shape()[0], every(x.shape()[1]), every(x.shape()[2]), channels}, x.dtype(), x.device());
  kernels::subsample(x.view(), stride, y.view());
  return record("subsample", {x}, y, [x, stride](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    kernels::subsample_backward(dy.view(), stride, dx.view());
    return std::vector{dx};
  });
}

}  // namespace tinymp
