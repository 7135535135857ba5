#include <kernels/kernels.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {

using kernels::Trans;

//   y = x . w          (B,O) = (B,I)(I,O)
//  dx = dy . w^T       (B,I) = (B,O)(O,I)
//  dw = x^T . dy       (I,O) = (I,B)(B,O)
Tensor matmul(const Tensor& x, const Tensor& w, MatmulOptions options) {
  expect_same_dtype("matmul", x, w);
  expect(x.shape().rank() == 2 && w.shape().rank() == 2 && x.shape()[1] == w.shape()[0], "matmul: x",
         x.shape(), " . w", w.shape(), " does not fit: x is (B,I), w is (I,O)");
  const bool f64_sums = options.accumulate == DType::f64 && x.dtype() == DType::f64;
  expect(f64_sums || options.accumulate == DType::f32 || options.accumulate == DType::f16, "matmul: sums of ",
         x.dtype(), " values are kept in f32 or f16, not ", options.accumulate);
  Tensor y({x.shape()[0], w.shape()[1]}, x.dtype(), x.device());
  kernels::gemm(x.view(), Trans::no, w.view(), Trans::no, y.view(), options.accumulate, {});
  return record("matmul", {x, w}, y, [x, w, options](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads(2);
    if (needs(0)) {
      grads[0] = Tensor(x.shape(), x.dtype(), x.device());
      kernels::gemm(dy.view(), Trans::no, w.view(), Trans::yes, grads[0].view(), options.accumulate, {});
    }
    if (needs(1)) {
      grads[1] = Tensor(w.shape(), w.dtype(), w.device());
      kernels::gemm(x.view(), Trans::yes, dy.view(), Trans::no, grads[1].view(), options.accumulate, {});
    }
    return grads;
  });
}

//   y = x + bias       (B,O) = (B,O) + (O); of more dimensions all but the last are rows
//  dx = dy
//  db = sum over b of dy
Tensor add_bias(const Tensor& x, const Tensor& bias) {
  expect_same_dtype("add_bias", x, bias);
  expect(x.shape().rank() >= 2 && bias.shape() == Shape{x.shape().cols()}, "add_bias: x", x.shape(),
         " + bias", bias.shape(), " does not fit: x is (B,O) or (B,H,W,O), bias is (O)");
  Tensor y(x.shape(), x.dtype(), x.device());
  kernels::add_bias(x.view(), bias.view(), y.view());
  return record("add_bias", {x, bias}, y, [bias](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads{dy, Tensor()};
    if (needs(1)) {
      grads[1] = Tensor(bias.shape(), bias.dtype(), bias.device());
      kernels::column_sums(dy.view(), grads[1].view());
    }
    return grads;
  });
}

}  // namespace tinymp
