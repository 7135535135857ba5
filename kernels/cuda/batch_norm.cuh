#pragma once

#include <kernels/cuda/norm.h>

/// A thread goes down one column for the sums, and is at one value for the rest.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void find_moments(Values x, std::int64_t rows, std::int64_t columns, Accumulation sums, C* mean,
                             C* variance) {
  for (std::int64_t c = first(); c < columns; c += stride()) {
    const auto value = [&](std::int64_t row) { return x.get<C>(row * columns + c); };
    const C m = sum_in_chunks<C>(rows, sums, value) / static_cast<C>(rows);
    const auto square = [&](std::int64_t row) { return (value(row) - m) * (value(row) - m); };
    mean[c] = m;
    variance[c] = sum_in_chunks<C>(rows, sums, square) / static_cast<C>(rows);
  }
}

template <class C>
__global__ void batch_norm_gradients(Values x, Normalized<C, Per::column> by, Values gamma, Values dy,
                                     const C* dgamma, const C* dbeta, Values dx, std::int64_t rows) {
  const C count = static_cast<C>(rows);
  for (std::int64_t i = first(); i < rows * by.columns; i += stride()) {
    const std::int64_t c = i % by.columns;
    dx.set(i, BatchNorm::backward(by(i, x.get<C>(i)), by.inverse(i), gamma.get<C>(c), dy.get<C>(i),
                                  dbeta[c] / count, dgamma[c] / count));
  }
}

}  // namespace

void column_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  if (x.cols() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<find_moments<C>>(blocks_for(x.cols()), block_threads, 0, stream(), values(x), x.rows(), x.cols(),
                            sums, mean.data<C>(), variance.data<C>());
  });
}

void batch_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  run_normalize<Per::column>(x, by, gamma, beta, y);
}

void batch_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  run_sum_gradients<Per::column>(x, by, dy, sums, dgamma, dbeta);
}

void batch_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy, const View& dgamma,
                   const View& dbeta, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<batch_norm_gradients<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x),
                                    normalized<C, Per::column>(by, x), values(gamma), values(dy),
                                    dgamma.data<C>(), dbeta.data<C>(), values(dx), x.rows());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
