#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

void expect_fits(std::string_view op, const Tensor& x, const Tensor& by) {
  expect_same_dtype(op, x, by);
  expect(x.shape().rank() == 2 && by.shape() == Shape{x.shape()[0]}, op, ": x", x.shape(), " by ", by.shape(),
         " does not fit: x is (B,C), by is (B)");
}

Tensor one_a_row(const Tensor& x) { return Tensor({x.shape()[0]}, x.dtype(), x.device()); }

}  // namespace

//   y = largest over c of x    (B) of (B,C)
//  dx = dy at the first of the largest, else 0
Tensor row_max(const Tensor& x) {
  if (const Recast as = recast("row_max", x)) return row_max(as[0]);
  expect_rows("row_max", x);
  expect(x.shape()[1] > 0, "row_max: rows of x", x.shape(), " have no values");
  const Tensor y = one_a_row(x);
  kernels::row_max(x.view(), y.view());
  return record("row_max", {x}, y, [x](const Tensor& dy, const Needs&) {
    const Tensor dx = Tensor::like(x);
    kernels::row_max_backward(x.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

//   y = sum over c of x        (B) of (B,C)
//  dx = dy                     (B,C) of (B)
Tensor row_sum(const Tensor& x, Accumulation sums) {
  if (const Recast as = recast("row_sum", x)) return row_sum(as[0], sums);
  expect_rows("row_sum", x);
  expect_sums("row_sum", sums);
  const Tensor y = one_a_row(x);
  kernels::row_sums(x.view(), sums, y.view());
  return record({"row_sum", sums_of(x, sums.format)}, {x}, y, [x](const Tensor& dy, const Needs&) {
    const Tensor dx = Tensor::like(x);
    kernels::spread_rows(dy.view(), dx.view());
    return std::vector{dx};
  });
}

//   y = x - by                 (B,C) = (B,C) - (B)
//  dx = dy
// dby = -sum over c of dy
Tensor subtract_rows(const Tensor& x, const Tensor& by) {
  if (const Recast as = recast("subtract_rows", x, by)) return subtract_rows(as[0], as[1]);
  expect_fits("subtract_rows", x, by);
  const Tensor y = Tensor::like(x);
  kernels::subtract_rows(x.view(), by.view(), y.view());
  return record("subtract_rows", {x, by}, y, [by](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads{dy, Tensor()};
    if (needs(1)) {
      grads[1] = Tensor::like(by);
      kernels::row_sums(dy.view(), {}, grads[1].view());
      kernels::scale(grads[1].view(), -1, grads[1].view());
    }
    return grads;
  });
}

//   y = x / by                 (B,C) = (B,C) / (B)
//  dx = dy / by
// dby = -sum over c of dy x / by^2
Tensor divide_rows(const Tensor& x, const Tensor& by) {
  if (const Recast as = recast("divide_rows", x, by)) return divide_rows(as[0], as[1]);
  expect_fits("divide_rows", x, by);
  const Tensor y = Tensor::like(x);
  kernels::divide_rows(x.view(), by.view(), y.view());
  return record("divide_rows", {x, by}, y, [x, by](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads(2);
    if (needs(0)) {
      grads[0] = Tensor::like(x);
      kernels::divide_rows(dy.view(), by.view(), grads[0].view());
    }
    if (needs(1)) {
      grads[1] = Tensor::like(by);
      kernels::divide_rows_dby(x.view(), by.view(), dy.view(), grads[1].view());
    }
    return grads;
  });
}

//   y = x[b,label[b]]          (B) of (B,C)
//  dx = dy at the label, else 0
Tensor pick(const Tensor& x, std::span<const std::int32_t> labels) {
  if (const Recast as = recast("pick", x)) return pick(as[0], labels);
  const Indices kept(labels, x.device());
  expect_labels("pick", "x", x, kept);
  const Tensor y = one_a_row(x);
  kernels::pick(x.view(), kept.view(), y.view());
  return record("pick", {x}, y, [x, kept](const Tensor& dy, const Needs&) {
    const Tensor dx = Tensor::like(x);
    kernels::pick_backward(dy.view(), kept.view(), dx.view());
    return std::vector{dx};
  });
}

}  // namespace tinymp
