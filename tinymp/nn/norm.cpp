#include <kernels/kernels.h>
#include <tinymp/autograd/recompute.h>
#include <tinymp/nn/averages.h>
#include <tinymp/nn/first_values.h>
#include <tinymp/nn/norm.h>
#include <tinymp/ops/check.h>

namespace tinymp::nn {
namespace {

void follow(const BatchNorm& norm, const BatchStatistics& batch, std::int64_t rows) {
  const double of_population = static_cast<double>(rows) / static_cast<double>(rows - 1);
  move_averages({norm.gamma, norm.running_mean, norm.running_variance, batch, of_population});
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t width, const Recipe& recipe, BatchNormOptions how) : options(how) {
  expect(width > 0, "BatchNorm: a width of ", width, "; it must be above 0");
  const DType format = recipe.fp32_norm_parameters ? wide(recipe.compute) : recipe.compute;
  gamma = filled({width}, format, 1).set_requires_grad(true);
  beta = filled({width}, format, 0).set_requires_grad(true);
  running_mean = filled({width}, wide(recipe.compute), 0);
  running_variance = filled({width}, wide(recipe.compute), 1);
}

Tensor BatchNorm::operator()(const Tensor& x) const {
  if (Tape::current() != nullptr) {
    BatchStatistics batch;
    const Tensor y = batch_norm(x, gamma, beta, options, &batch);
    remembered([&] { follow(*this, batch, x.shape().rows()); });
    return y;
  }
  expect_norm_parameters("BatchNorm", x, gamma);
  expect(x.shape().rank() >= 2 && gamma.shape() == Shape{x.shape().cols()}, "BatchNorm: x", x.shape(),
         " does not fit a layer of width ", gamma.size(), ": x is (B,O) or (B,H,W,O)");
  Tensor y = Tensor::like(x);
  kernels::batch_norm(x.view(),
                      {running_mean.view(), running_variance.view(), static_cast<double>(options.epsilon)},
                      gamma.view(), beta.view(), y.view());
  return y;
}

std::vector<Parameter> BatchNorm::parameters(const std::string& layer) const {
  return {{layer + " gamma", gamma}, {layer + " beta", beta}};
}

LayerNorm::LayerNorm(std::int64_t width, const Recipe& recipe, LayerNormOptions how) : options(how) {
  expect(width > 0, "LayerNorm: a width of ", width, "; it must be above 0");
  gamma = filled({width}, recipe.compute, 1).set_requires_grad(true);
  beta = filled({width}, recipe.compute, 0).set_requires_grad(true);
}

std::vector<Parameter> LayerNorm::parameters(const std::string& layer) const {
  return {{layer + " gamma", gamma}, {layer + " beta", beta}};
}

}  // namespace tinymp::nn
