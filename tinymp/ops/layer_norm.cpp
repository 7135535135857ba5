#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>
#include <cmath>

namespace tinymp {
namespace {

void expect_fits(const Tensor& x, const Tensor& gamma, const Tensor& beta, const LayerNormOptions& options) {
  expect_same_dtype("layer_norm", x, gamma);
  expect_same_dtype("layer_norm", x, beta);
  expect(x.shape().rank() >= 2 && gamma.shape() == Shape{x.shape().cols()} && beta.shape() == gamma.shape(),
         "layer_norm: x", x.shape(), ", gamma", gamma.shape(), " and beta", beta.shape(),
         " do not fit: x is (B,O) or (B,H,W,O), gamma and beta are (O)");
  expect(x.shape().cols() > 0, "layer_norm: rows of x", x.shape(), " have no mean");
  expect_sums("layer_norm", options.sums);
  expect(std::isfinite(options.epsilon) && options.epsilon > 0, "layer_norm: epsilon is ", options.epsilon,
         "; it must be a finite number above 0");
}

}  // namespace

//     xhat = (x - mean) / sqrt(var + eps)       (B,O), mean and var of each row over o
//        y = gamma xhat + beta                  (B,O) = (O)(B,O) + (O)
//    dbeta = sum over b of dy                   (O)
//   dgamma = sum over b of dy xhat              (O)
//       dx = (e - mean of e - xhat mean of e xhat) / sqrt(var + eps), e = gamma dy     (B,O), means over o
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormOptions options) {
  if (const Recast as = recast("layer_norm", x, gamma, beta)) return layer_norm(as[0], as[1], as[2], options);
  expect_fits(x, gamma, beta, options);
  const DType format = wide(x.dtype());
  const Shape rows{x.shape().rows()};
  const Tensor mean(rows, format, x.device()), variance(rows, format, x.device());
  kernels::row_moments(x.view(), options.sums, mean.view(), variance.view());
  const bool narrow_sums = options.sums.format == DType::f16 && format == DType::f32;
  const DType kept = sums_of(x, options.sums.format);
  show(narrow_sums ? "layer_norm: mean summed in f16" : "layer_norm: mean", x, mean, kept);
  show(narrow_sums ? "layer_norm: variance summed in f16" : "layer_norm: variance", x, variance, kept);
  const auto normalizer = [mean, variance, epsilon = options.epsilon] {
    return kernels::Normalizer{mean.view(), variance.view(), static_cast<double>(epsilon)};
  };
  Tensor y = Tensor::like(x);
  kernels::layer_norm(x.view(), normalizer(), gamma.view(), beta.view(), y.view());
  return record(
      "layer_norm", {x, gamma, beta}, y,
      [x, gamma, beta, normalizer, sums = options.sums, format](const Tensor& dy, const Needs& needs) {
        std::vector<Tensor> grads(3);
        if (needs(0)) {
          grads[0] = Tensor::like(x);
          kernels::layer_norm_dx(x.view(), normalizer(), gamma.view(), dy.view(), sums, grads[0].view());
        }
        if (!needs(1) && !needs(2)) return grads;
        const Tensor dgamma(gamma.shape(), format, x.device()), dbeta(gamma.shape(), format, x.device());
        kernels::layer_norm_sums(x.view(), normalizer(), dy.view(), sums, dgamma.view(), dbeta.view());
        const auto narrow = [](const Tensor& wide_sum, const Tensor& of) {
          Tensor rounded = of.place_for_grad();
          kernels::cast(wide_sum.view(), rounded.view());
          return rounded;
        };
        if (needs(1)) grads[1] = narrow(dgamma, gamma);
        if (needs(2)) grads[2] = narrow(dbeta, beta);
        return grads;
      });
}

}  // namespace tinymp
