#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

//   y = f(x)
//  dx = f'(x) dy, computed from y, or from x if f needs it: kernels/formulas/unary.h
Tensor unary(const char* op, kernels::Unary f, const Tensor& x) {
  if (const Recast as = recast(op, x)) return unary(op, f, as[0]);
  Tensor y = Tensor::like(x);
  kernels::unary(f, x.view(), y.view());
  const Tensor kept = kernels::keeps_input(f) ? x : y;
  return record(op, {x}, y, [f, kept](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(kept);
    kernels::unary_backward(f, kept.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

}  // namespace

// Tensor relu(const Tensor& x), and so on
#define TINYMP_OP(name, Formula) \
  Tensor name(const Tensor& x) { return unary(#name, kernels::Unary::name, x); }
TINYMP_UNARY(TINYMP_OP)
#undef TINYMP_OP

//   y = a + b,  da = db = dy
Tensor add(const Tensor& a, const Tensor& b) {
  if (const Recast as = recast("add", a, b)) return add(as[0], as[1]);
  expect_same_dtype("add", a, b);
  expect_same_shape("add", a, b);
  Tensor y = Tensor::like(a);
  kernels::add(a.view(), b.view(), y.view());
  return record("add", {a, b}, y, [](const Tensor& dy, const Needs&) { return std::vector{dy, dy}; });
}

//   y = a - b,  da = dy,  db = -dy
Tensor subtract(const Tensor& a, const Tensor& b) {
  if (const Recast as = recast("subtract", a, b)) return subtract(as[0], as[1]);
  expect_same_dtype("subtract", a, b);
  expect_same_shape("subtract", a, b);
  Tensor y = Tensor::like(a);
  kernels::subtract(a.view(), b.view(), y.view());
  return record("subtract", {a, b}, y, [](const Tensor& dy, const Needs& needs) {
    std::vector<Tensor> grads{dy, Tensor()};
    if (needs(1)) {
      grads[1] = Tensor::like(dy);
      kernels::scale(dy.view(), -1, grads[1].view());
    }
    return grads;
  });
}

//   y = a b,  da = dy b,  db = dy a
Tensor multiply(const Tensor& a, const Tensor& b) {
  if (const Recast as = recast("multiply", a, b)) return multiply(as[0], as[1]);
  expect_same_dtype("multiply", a, b);
  expect_same_shape("multiply", a, b);
  const auto product = [](const Tensor& p, const Tensor& q) {
    Tensor y = Tensor::like(p);
    kernels::multiply(p.view(), q.view(), y.view());
    return y;
  };
  return record("multiply", {a, b}, product(a, b), [product, a, b](const Tensor& dy, const Needs& needs) {
    return std::vector{needs(0) ? product(dy, b) : Tensor(), needs(1) ? product(dy, a) : Tensor()};
  });
}

//   y = factor x,  dx = factor dy
Tensor scale(const Tensor& x, float factor) {
  if (const Recast as = recast("scale", x)) return scale(as[0], factor);
  const auto times = [factor](const Tensor& t) {
    Tensor scaled = Tensor::like(t);
    kernels::scale(t.view(), static_cast<double>(factor), scaled.view());
    return scaled;
  };
  return record("scale", {x}, times(x),
                [times](const Tensor& dy, const Needs&) { return std::vector{times(dy)}; });
}

Tensor scale(const Tensor& x, const Tensor& factor) {
  if (const Recast as = recast("scale", x)) return scale(as[0], factor);
  expect_same_device("scale", x, factor);
  expect(factor.size() == 1 && factor.dtype() == wide(x.dtype()), "scale: the factor of a ", x.dtype(),
         " tensor is ", factor.dtype(), factor.shape(), "; it is one value in ", wide(x.dtype()));
  const auto times = [factor](const Tensor& t) {
    Tensor scaled = Tensor::like(t);
    kernels::scale_by(t.view(), factor.view(), scaled.view());
    return scaled;
  };
  return record("scale", {x}, times(x),
                [times](const Tensor& dy, const Needs&) { return std::vector{times(dy)}; });
}

//   y = round(x),  dx = round(dy), each to the other's format: this is where small gradients can vanish
Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Tensor y(x.shape(), dtype, x.device());
  kernels::cast(x.view(), y.view());
  return record("cast", {x}, y, [x](const Tensor& dy, const Needs&) {
    Tensor dx = x.place_for_grad();
    kernels::cast(dy.view(), dx.view());
    return std::vector{dx};
  });
}

Tensor reshape(const Tensor& x, Shape shape) {
  expect(shape.size() == x.size(), "reshape: ", x.size(), " values of shape ", x.shape(), " do not fit ",
         shape);
  return record("reshape", {x}, x.viewed_as(shape), [before = x.shape()](const Tensor& dy, const Needs&) {
    return std::vector{dy.viewed_as(before)};
  });
}

}  // namespace tinymp
