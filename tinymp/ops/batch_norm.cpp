#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>
#include <cmath>

namespace tinymp {
namespace {

/// The product of all dimensions but the last, even when there are no columns.
std::int64_t rows_of(const Tensor& x) {
  std::int64_t rows = 1;
  for (int i = 0; i + 1 < x.shape().rank(); ++i) rows *= x.shape()[i];
  return rows;
}

void expect_fits(const Tensor& x, const Tensor& gamma, const Tensor& beta, const BatchNormOptions& options) {
  expect_norm_parameters("batch_norm", x, gamma);
  expect_same_dtype("batch_norm", gamma, beta);
  expect(x.shape().rank() >= 2 && gamma.shape() == Shape{x.shape().cols()} && beta.shape() == gamma.shape(),
         "batch_norm: x", x.shape(), ", gamma", gamma.shape(), " and beta", beta.shape(),
         " do not fit: x is (B,O) or (B,H,W,O), gamma and beta are (O)");
  const std::int64_t rows = rows_of(x);
  expect(rows >= 2, "batch_norm: a batch of ", rows, " has no variance; it takes at least 2 rows");
  expect_sums("batch_norm", options.sums);
  expect(std::isfinite(options.epsilon) && options.epsilon > 0, "batch_norm: epsilon is ", options.epsilon,
         "; it must be a finite number above 0");
}

}  // namespace

//     xhat = (x - mean) / sqrt(var + eps)       (B,O), mean and var of each column over b; b counts all rows
//        y = gamma xhat + beta                  (B,O) = (O)(B,O) + (O)
//    dbeta = sum over b of dy                   (O)
//   dgamma = sum over b of dy xhat              (O)
//       dx = gamma / sqrt(var + eps) (dy - dbeta / B - xhat dgamma / B)       (B,O): mean and var depend on x
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, BatchNormOptions options,
                  BatchStatistics* found) {
  if (const Recast as = recast("batch_norm", x, gamma, beta))
    return batch_norm(as[0], as[1], as[2], options, found);
  expect_fits(x, gamma, beta, options);
  const DType format = wide(x.dtype());
  const BatchStatistics statistics{Tensor(gamma.shape(), format, x.device()),
                                   Tensor(gamma.shape(), format, x.device())};
  kernels::column_moments(x.view(), options.sums, statistics.mean.view(), statistics.variance.view());
  if (found != nullptr) *found = statistics;
  const bool narrow_sums = options.sums.format == DType::f16 && format == DType::f32;
  const DType sums = sums_of(x, options.sums.format);
  show(narrow_sums ? "batch_norm: mean summed in f16" : "batch_norm: mean", x, statistics.mean, sums);
  show(narrow_sums ? "batch_norm: variance summed in f16" : "batch_norm: variance", x, statistics.variance,
       sums);
  const auto normalizer = [statistics, epsilon = options.epsilon] {
    return kernels::Normalizer{statistics.mean.view(), statistics.variance.view(),
                               static_cast<double>(epsilon)};
  };
  Tensor y = Tensor::like(x);
  kernels::batch_norm(x.view(), normalizer(), gamma.view(), beta.view(), y.view());
  return record(
      "batch_norm", {x, gamma, beta}, y,
      [x, gamma, beta, normalizer, sums = options.sums, format](const Tensor& dy, const Needs& needs) {
        const Tensor dgamma(gamma.shape(), format, x.device()), dbeta(gamma.shape(), format, x.device());
        kernels::batch_norm_sums(x.view(), normalizer(), dy.view(), sums, dgamma.view(), dbeta.view());
        Tensor dx;
        if (needs(0)) {
          dx = Tensor::like(x);
          kernels::batch_norm_dx(x.view(), normalizer(), gamma.view(), dy.view(), dgamma.view(), dbeta.view(),
                                 dx.view());
        }
        const auto narrow = [](const Tensor& wide_sum, const Tensor& of) {
          Tensor rounded = of.place_for_grad();
          kernels::cast(wide_sum.view(), rounded.view());
          return rounded;
        };
        return std::vector{dx, needs(1) ? narrow(dgamma, gamma) : Tensor(),
                           needs(2) ? narrow(dbeta, beta) : Tensor()};
      });
}

}  // namespace tinymp
