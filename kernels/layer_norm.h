#pragma once

#include <kernels/formulas.h>
#include <kernels/row_chunks.h>

/// Layer norm of one row, for CPU and GPU alike. Ba, Kiros and Hinton 2016 (arXiv 1607.06450), section 3; the
/// arithmetic of a value is BatchNorm's.
namespace tinymp::kernels {

template <class C>
struct RowMoments {
  C mean, variance;
};

/// Of n values x[c]; the variance divides by n.
template <class C, class Row>
TINYMP_HD RowMoments<C> row_moments_of(const Row& x, std::int64_t n, const Accumulation& sums) {
  const C count = static_cast<C>(n);
  const C mean = sum_of_row<C>(n, sums, [&](std::int64_t c) { return x[c]; }) / count;
  const auto square = [&](std::int64_t c) { return (x[c] - mean) * (x[c] - mean); };
  return {mean, sum_of_row<C>(n, sums, square) / count};
}

/// set(c, dx[c]) for each value of a row, out of its xhat(c) and error(c) = gamma dy.
template <class C, class Normalized, class Error, class Set>
TINYMP_HD void layer_norm_dx_row(std::int64_t n, const Accumulation& sums, C inverse, const Normalized& xhat,
                                 const Error& error, const Set& set) {
  const C count = static_cast<C>(n);
  const auto product = [&](std::int64_t c) { return error(c) * xhat(c); };
  const C mean_error = sum_of_row<C>(n, sums, error) / count;
  const C mean_product = sum_of_row<C>(n, sums, product) / count;
  for (std::int64_t c = 0; c < n; ++c)
    set(c, BatchNorm::backward(xhat(c), inverse, C(1), error(c), mean_error, mean_product));
}

}  // namespace tinymp::kernels
