#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
//   y = mean over b of  (top[b] - x[b,label[b]]) + log sum_c exp(x[b,c] - top[b])
//  dx = (softmax(x) - one at the label) dy / B
Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> labels) {
  return resident::cross_entropy(logits, Indices(labels, logits.device()));
}

Tensor resident::cross_entropy(const Tensor& logits, const Indices& labels) {
  if (const Recast as = recast("cross_entropy", logits)) return cross_entropy(as[0], labels);
  expect_labels("cross_entropy", "logits", logits, labels);
  const DType format = wide(logits.dtype());
  const Shape rows{logits.shape()[0]};
  const Tensor top(rows, format, logits.device()), log_sum(rows, format, logits.device());
  Tensor loss(Shape{}, format, logits.device());
  // Where it is known how backward begins, its first step is taken at once: the rows are at hand.
  const Tensor seed = logits.requires_grad() && format == DType::f32 ? Tape::current_seed() : Tensor();
  const Tensor seeded = seed ? Tensor::like(logits) : Tensor();
  if (seed) {
    kernels::cross_entropy_and_gradient(logits.view(), labels.view(), top.view(), log_sum.view(), loss.view(),
                                        seed.view(), seeded.view());
  } else {
    kernels::cross_entropy(logits.view(), labels.view(), top.view(), log_sum.view(), loss.view());
  }
  return record({"cross_entropy", format}, {logits}, loss,
                [logits, top, log_sum, labels, seed, seeded](const Tensor& dy, const Needs&) {
                  if (seed && dy.id() == seed.id()) return std::vector{seeded};
                  Tensor dx = Tensor::like(logits);
                  kernels::cross_entropy_backward(logits.view(), labels.view(), top.view(), log_sum.view(),
                                                  dy.view(), dx.view());
                  return std::vector{dx};
                });
}

//   y = mean of (x - target)^2
//  dx = 2 (x - target) dy / size
Tensor mse(const Tensor& x, const Tensor& target) {
  if (const Recast as = recast("mse", x, target)) return mse(as[0], as[1]);
  expect_same_shape("mse", x, target);
  expect_same_device("mse", x, target);
  expect(target.dtype() == wide(x.dtype()), "mse: the target of a ", x.dtype(), " prediction is ",
         wide(x.dtype()), ", not ", target.dtype());
  expect(x.size() > 0, "mse: a tensor of shape ", x.shape(), " has no values");
  Tensor loss(Shape{}, wide(x.dtype()), x.device());
  kernels::mse(x.view(), target.view(), loss.view());
  return record({"mse", loss.dtype()}, {x}, loss, [x, target](const Tensor& dy, const Needs&) {
    Tensor dx = Tensor::like(x);
    kernels::mse_backward(x.view(), target.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

}  // namespace tinymp
