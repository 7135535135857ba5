#pragma once

#include <kernels/cuda/norm.h>
#include <kernels/cuda/rows.h>

/// Sixteen threads go along a row for its moments and errors; the sums of gamma and beta go down columns.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void moments_of_rows(Values x, std::int64_t rows, std::int64_t columns, Accumulation sums, C* mean,
                                C* variance) {
  for_rows(rows, [&](std::int64_t b) {
    const RowMoments<C> found = row_moments_of<C, BySixteen>(Row<C>{x, b * columns}, columns, sums);
    if (!is_first_of_row()) return;
    mean[b] = found.mean;
    variance[b] = found.variance;
  });
}

template <class C>
__global__ void layer_norm_gradients(Values x, Normalized<C, Per::row> by, Values gamma, Values dy,
                                     Accumulation sums, Values dx, std::int64_t rows) {
  for_rows(rows, [&](std::int64_t b) {
    const std::int64_t begin = b * by.columns;
    const auto xhat = [&](std::int64_t c) { return by(begin + c, x.get<C>(begin + c)); };
    const auto error = [&](std::int64_t c) { return gamma.get<C>(c) * dy.get<C>(begin + c); };
    const auto set = [&](std::int64_t c, C value) { dx.set(begin + c, value); };
    layer_norm_dx_row<C, BySixteen>(by.columns, sums, by.inverse(begin), xhat, error, set);
  });
}

}  // namespace

void row_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<moments_of_rows<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x), x.rows(),
                               x.cols(), sums, mean.data<C>(), variance.data<C>());
  });
}

void layer_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  run_normalize<Per::row>(x, by, gamma, beta, y);
}

void layer_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  run_sum_gradients<Per::row>(x, by, dy, sums, dgamma, dbeta);
}

void layer_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy,
                   const Accumulation& sums, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<layer_norm_gradients<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x),
                                    normalized<C, Per::row>(by, x), values(gamma), values(dy), sums,
                                    values(dx), x.rows());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
