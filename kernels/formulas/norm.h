#pragma once

#include <kernels/formulas/along_row.h>
#include <tinymp/base/host_device.h>
#include <cmath>
#include <cstdint>

/// Batch norm and layer norm, one text for CPU and GPU.
namespace tinymp::kernels {

/// Batch norm, value by value. Ioffe and Szegedy 2015, algorithm 1, and the derivatives of their section 3.
struct BatchNorm {
  template <class C>
  static TINYMP_HD C inverse_deviation(C variance, C epsilon) {
    return C(1) / std::sqrt(variance + epsilon);
  }
  template <class C>
  static TINYMP_HD C normalized(C x, C mean, C inverse) {
    return (x - mean) * inverse;
  }
  template <class C>
  static TINYMP_HD C forward(C xhat, C gamma, C beta) {
    return gamma * xhat + beta;
  }
  /// mean_dy and mean_dy_xhat: the means of dy and of dy xhat over the batch.
  template <class C>
  static TINYMP_HD C backward(C xhat, C inverse, C gamma, C dy, C mean_dy, C mean_dy_xhat) {
    return gamma * inverse * (dy - mean_dy - xhat * mean_dy_xhat);
  }
};

/// (1 - momentum) running + momentum factor newest
template <class C>
struct RunningAverage {
  C rest, share;
  RunningAverage(double momentum, double factor)
      : rest(static_cast<C>(1 - momentum)), share(static_cast<C>(momentum * factor)) {}
  TINYMP_HD C operator()(C running, C newest) const { return rest * running + share * newest; }
};

// Layer norm of one row. Ba, Kiros and Hinton 2016 (arXiv 1607.06450), section 3. Each value is
// computed by the functions of BatchNorm.

template <class C>
struct RowMoments {
  C mean, variance;
};

/// The moments of n values x[c]; the variance divides by n.
template <class C, class Along = ByOne, class Row>
TINYMP_HD RowMoments<C> row_moments_of(const Row& x, std::int64_t n, const Accumulation& sums) {
  const C count = static_cast<C>(n);
  const C mean = Along::template sum<C>(n, sums, [&](std::int64_t c) { return x[c]; }) / count;
  const auto square = [&](std::int64_t c) { return (x[c] - mean) * (x[c] - mean); };
  return {mean, Along::template sum<C>(n, sums, square) / count};
}

/// Computes dx[c] from xhat(c) and error(c) = gamma dy, and calls set(c, dx[c]), for each value of a row.
template <class C, class Along = ByOne, class Normalized, class Error, class Set>
TINYMP_HD void layer_norm_dx_row(std::int64_t n, const Accumulation& sums, C inverse, const Normalized& xhat,
                                 const Error& error, const Set& set) {
  const C count = static_cast<C>(n);
  const auto product = [&](std::int64_t c) { return error(c) * xhat(c); };
  const C mean_error = Along::template sum<C>(n, sums, error) / count;
  const C mean_product = Along::template sum<C>(n, sums, product) / count;
  Along::each(n, [&](std::int64_t c) {
    set(c, BatchNorm::backward(xhat(c), inverse, C(1), error(c), mean_error, mean_product));
  });
}

}  // namespace tinymp::kernels
