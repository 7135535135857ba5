#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

Tensor columns_of(const Tensor& x, std::int64_t from, std::int64_t count) {
  Tensor y({x.shape()[0], count}, x.dtype(), x.device());
  kernels::copy_columns(x.view(), from, y.view(), 0, count);
  return y;
}

}  // namespace

//   y = x[:, from .. from + count]      (B,count) out of (B,O)
//  dx = dy in those columns, zeros beside them
Tensor columns(const Tensor& x, std::int64_t from, std::int64_t count) {
  if (const Recast as = recast("columns", x)) return columns(as[0], from, count);
  expect(x.shape().rank() == 2, "columns: x", x.shape(), "; x is (B,O)");
  expect(from >= 0 && count >= 0 && count <= x.shape()[1] - from, "columns: ", count, " columns from ", from,
         " on do not lie inside x", x.shape());
  return record("columns", {x}, columns_of(x, from, count), [x, from, count](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    if (count < x.shape()[1]) kernels::fill(dx.view(), 0);
    kernels::copy_columns(dy.view(), 0, dx.view(), from, count);
    return std::vector{dx};
  });
}

//    y = x1 x2 ... side by side         (B, O1 + O2 + ...) of (B,O1), (B,O2), ...
//  dxi = the columns of dy where xi lies
Tensor concat_columns(const std::vector<Tensor>& parts) {
  expect(!parts.empty(), "concat_columns: there is nothing to join");
  if (const Recast as = recast("concat_columns", parts)) return concat_columns(as.all());
  std::int64_t width = 0;
  for (const Tensor& x : parts) {
    expect_same_dtype("concat_columns", parts[0], x);
    expect(x.shape().rank() == 2 && x.shape()[0] == parts[0].shape()[0], "concat_columns: ", x.shape(),
           " beside ", parts[0].shape(), "; all are (B,O) of one B");
    width += x.shape()[1];
  }
  Tensor y({parts[0].shape()[0], width}, parts[0].dtype(), parts[0].device());
  std::vector<std::int64_t> widths;
  std::int64_t at = 0;
  for (const Tensor& x : parts) {
    widths.push_back(x.shape()[1]);
    kernels::copy_columns(x.view(), 0, y.view(), at, widths.back());
    at += widths.back();
  }
  return record("concat_columns", parts, y, [widths](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads;
    std::int64_t from = 0;
    for (std::size_t i = 0; i < widths.size(); from += widths[i++])
      grads.push_back(needs(i) ? columns_of(dy, from, widths[i]) : Tensor());
    return grads;
  });
}

}  // namespace tinymp
