#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/float8_operands.h>
#include <tinymp/ops/ops.h>

namespace tinymp {

using kernels::Trans;

namespace {

void expect_fits(const char* op, const Tensor& x, const Tensor& w, DType accumulate) {
  expect_same_dtype(op, x, w);
  expect(x.shape().rank() == 2 && w.shape().rank() == 2 && x.shape()[1] == w.shape()[0], op, ": x", x.shape(),
         " . w", w.shape(), " does not fit: x is (B,I), w is (I,O)");
  const bool f64_sums = accumulate == DType::f64 && x.dtype() == DType::f64;
  expect(f64_sums || accumulate == DType::f32 || accumulate == DType::f16, op, ": sums of ", x.dtype(),
         " values are kept in f32 or f16, not ", accumulate);
}

Tensor product(const Tensor& a, Trans ta, const Tensor& b, Trans tb, const Shape& shape, DType accumulate,
               const kernels::Epilogue& after = {}) {
  Tensor c(shape, a.dtype(), a.device());
  kernels::gemm(a.view(), ta, b.view(), tb, c.view(), accumulate, after);
  return c;
}

/// The same for operands in FP8; the result has the format `dtype`.
Tensor product(const Float8Operands& of, const Shape& shape, DType dtype, kernels::Epilogue after = {}) {
  Tensor c(shape, dtype, of.x.values.device());
  after.float8 = of.forward();
  kernels::gemm(of.x.values.view(), Trans::no, of.w.values.view(), Trans::no, c.view(), DType::f32, after);
  return c;
}

/// The product as the gradient of `of`, whose shape and format it has: written where that belongs.
Tensor product(const Tensor& a, Trans ta, const Tensor& b, Trans tb, const Tensor& of, DType accumulate) {
  Tensor c = of.place_for_grad();
  kernels::gemm(a.view(), ta, b.view(), tb, c.view(), accumulate, {});
  return c;
}

Tensor gradient_of_bias(const Tensor& bias, const Tensor& dy) {
  Tensor sums = bias.place_for_grad();
  kernels::column_sums(dy.view(), sums.view());
  return sums;
}

// <exercise backward_of_matmul>
//  dx = dy . w^T       (B,I) = (B,O)(O,I)
//  dw = x^T . dy       (I,O) = (I,B)(B,O)
std::vector<Tensor> product_gradients(const Tensor& x, const Tensor& w, const Tensor& dy, const Needs& needs,
                                      DType sums) {
  return {needs(0) ? product(dy, Trans::no, w, Trans::yes, x, sums) : Tensor(),
          needs(1) ? product(x, Trans::yes, dy, Trans::no, w, sums) : Tensor()};
}
// </exercise backward_of_matmul>

std::optional<kernels::Unary> unary_of(std::optional<Activation> f) {
  if (!f) return {};
  switch (*f) {
    case Activation::relu:
      return kernels::Unary::relu;
    case Activation::sigmoid:
      return kernels::Unary::sigmoid;
    case Activation::tanh:
      return kernels::Unary::tanh;
    case Activation::exp:
      break;
  }
  return kernels::Unary::exp;
}

}  // namespace

//   y = x . w          (B,O) = (B,I)(I,O)
Tensor matmul(const Tensor& x, const Tensor& w, MatmulOptions options) {
  if (const Recast as = recast("matmul", x, w)) return matmul(as[0], as[1], options);
  const DType sums = options.accumulate;
  expect_fits("matmul", x, w, sums);
  const Shape shape{x.shape()[0], w.shape()[1]};
  const std::optional<Float8Operands> narrow = Float8Operands::of(x, w, "matmul", sums);
  const Tensor y =
      narrow ? product(*narrow, shape, x.dtype()) : product(x, Trans::no, w, Trans::no, shape, sums);
  record({"matmul", sums_of(x, sums)}, {x, w}, y,
         [x = Float8Operands::kept(narrow, x), w, sums, narrow](const Tensor& dy, const Needs& needs) {
           return narrow ? product_gradients(*narrow, x, dy, needs)
                         : product_gradients(x, w, dy, needs, sums);
         });
  if (narrow) Tape::let_go(x);
  return y;
}

//   y = f(x . w + bias)       (B,O) = (B,I)(I,O) + (O)
//  dz = f'(y) dy              (B,O): before f; then as for matmul and add_bias
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, LinearOptions options) {
  if (const Recast as = recast("linear", x, w, bias)) return linear(as[0], as[1], as[2], options);
  const DType sums = options.accumulate;
  const std::optional<kernels::Unary> f = unary_of(options.activation);
  expect_fits("linear", x, w, sums);
  expect_same_dtype("linear", w, bias);
  expect(bias.shape() == Shape{w.shape()[1]}, "linear: w", w.shape(), " and bias", bias.shape(),
         " do not fit: w is (I,O), bias is (O)");
  const Shape shape{x.shape()[0], w.shape()[1]};
  const std::optional<Float8Operands> narrow = Float8Operands::of(x, w, "linear", sums);
  const Tensor y = narrow ? product(*narrow, shape, x.dtype(), {bias.view(), f})
                          : product(x, Trans::no, w, Trans::no, shape, sums, {bias.view(), f});
  record({"linear", sums_of(x, sums)}, {x, w, bias}, y,
         [x = Float8Operands::kept(narrow, x), w, bias, y = f ? y : Tensor(), sums, f, narrow](
             const Tensor& dy, const Needs& needs) {
           Tensor dz = f ? Tensor::like(y) : dy, dbias;
           if (f && needs(2)) {
             dbias = bias.place_for_grad();
             kernels::unary_backward_and_sums(*f, y.view(), dy.view(), dz.view(), dbias.view());
           } else if (f) {
             kernels::unary_backward(*f, y.view(), dy.view(), dz.view());
           } else if (needs(2)) {
             dbias = gradient_of_bias(bias, dy);
           }
           std::vector<Tensor> grads =
               narrow ? product_gradients(*narrow, x, dz, needs) : product_gradients(x, w, dz, needs, sums);
           grads.push_back(dbias);
           return grads;
         });
  if (narrow) Tape::let_go(x);
  return y;
}

//   y = x + bias       (B,O) = (B,O) + (O); of more dimensions all but the last are rows
//  dx = dy
//  db = sum over b of dy
Tensor add_bias(const Tensor& x, const Tensor& bias) {
  if (const Recast as = recast("add_bias", x, bias)) return add_bias(as[0], as[1]);
  expect_same_dtype("add_bias", x, bias);
  expect(x.shape().rank() >= 2 && bias.shape() == Shape{x.shape().cols()}, "add_bias: x", x.shape(),
         " + bias", bias.shape(), " does not fit: x is (B,O) or (B,H,W,O), bias is (O)");
  Tensor y = Tensor::like(x);
  kernels::add_bias(x.view(), bias.view(), y.view());
  return record("add_bias", {x, bias}, y, [bias](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads{dy, Tensor()};
    if (needs(1)) grads[1] = gradient_of_bias(bias, dy);
    return grads;
  });
}

}  // namespace tinymp
