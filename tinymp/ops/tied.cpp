#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {

//   y = x . w^T        (B,O) = (B,I)(O,I)^T
//  dx = dy . w         (B,I) = (B,O)(O,I)
//  dw = dy^T . x       (O,I) = (O,B)(B,I)
Tensor matmul_transposed(const Tensor& x, const Tensor& w, MatmulOptions options) {
  using kernels::Trans;
  if (const Recast as = recast("matmul_transposed", x, w)) return matmul_transposed(as[0], as[1], options);
  const DType sums = options.accumulate;
  expect_same_dtype("matmul_transposed", x, w);
  expect(x.shape().rank() == 2 && w.shape().rank() == 2 && x.shape()[1] == w.shape()[1],
         "matmul_transposed: x", x.shape(), " . w", w.shape(), "^T does not fit: x is (B,I), w is (O,I)");
  const bool f64_sums = sums == DType::f64 && x.dtype() == DType::f64;
  expect(f64_sums || sums == DType::f32 || sums == DType::f16, "matmul_transposed: sums of ", x.dtype(),
         " values are kept in f32 or f16, not ", sums);
  const auto multiply = [sums](const Tensor& a, Trans ta, const Tensor& b, Trans tb, const Tensor& c) {
    kernels::gemm(a.view(), ta, b.view(), tb, c.view(), sums, {});
    return c;
  };
  const Tensor y =
      multiply(x, Trans::no, w, Trans::yes, Tensor({x.shape()[0], w.shape()[0]}, x.dtype(), x.device()));
  return record({"matmul_transposed", sums_of(x, sums)}, {x, w}, y,
                [x, w, multiply](const Tensor& dy, const Needs& needs) {
                  std::vector<Tensor> grads(2);
                  if (needs(0)) grads[0] = multiply(dy, Trans::no, w, Trans::no, x.place_for_grad());
                  if (needs(1)) grads[1] = multiply(dy, Trans::yes, x, Trans::no, w.place_for_grad());
                  return grads;
                });
}

}  // namespace tinymp
