#include <kernels/kernels.h>
#include <tinymp/nn/batch_norm.h>
#include <tinymp/nn/filled.h>
#include <tinymp/ops/check.h>

namespace tinymp::nn {
namespace {

constexpr double momentum = 0.1;  // PyTorch's default: how much of the newest batch goes into the averages

/// running = (1 - momentum) running + momentum factor batch
void follow(const Tensor& running, const Tensor& batch, double factor) {
  const Tensor share(batch.shape(), batch.dtype(), batch.device());
  kernels::scale(batch.view(), momentum * factor, share.view());
  kernels::scale(running.view(), 1 - momentum, running.view());
  kernels::accumulate(share.view(), running.view());
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t width, const Recipe& recipe, BatchNormOptions how) : options(how) {
  expect(width > 0, "BatchNorm: a width of ", width, "; it must be above 0");
  const DType format = recipe.fp32_norm ? wide(recipe.compute) : recipe.compute;
  gamma = filled({width}, format, 1).set_requires_grad(true);
  beta = filled({width}, format, 0).set_requires_grad(true);
  running_mean = filled({width}, wide(recipe.compute), 0);
  running_variance = filled({width}, wide(recipe.compute), 1);
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  if (Tape::current() != nullptr) {
    BatchStatistics batch;
    const Tensor y = batch_norm(x, gamma, beta, options, &batch);
    const auto rows = static_cast<double>(x.shape().rows());
    follow(running_mean, batch.mean, 1);
    follow(running_variance, batch.variance, rows / (rows - 1));  // of the population, not of the batch
    return y;
  }
  expect_norm_parameters("BatchNorm", x, gamma);
  expect(x.shape().rank() >= 2 && gamma.shape() == Shape{x.shape().cols()}, "BatchNorm: x", x.shape(),
         " does not fit a layer of width ", gamma.size(), ": x is (B,O) or (B,H,W,O)");
  Tensor y(x.shape(), x.dtype(), x.device());
  kernels::batch_norm(x.view(),
                      {running_mean.view(), running_variance.view(), static_cast<double>(options.epsilon)},
                      gamma.view(), beta.view(), y.view());
  return y;
}

}  // namespace tinymp::nn
