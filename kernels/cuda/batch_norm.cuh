#pragma once

#include <kernels/cuda/norm.h>

/// Sums go down columns (column_sums.h), the rest is value by value.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
struct SquareFromMean {
  Values x;
  const C* mean;
  std::int64_t columns;
  __device__ C operator()(std::int64_t row, std::int64_t c) const {
    const C difference = x.get<C>(row * columns + c) - mean[c];
    return difference * difference;
  }
};

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
    const C rows = static_cast<C>(x.rows());
    reduce_columns<C>(EachOfColumn<C>{values(x), x.cols()}, x.rows(), x.cols(), sums,
                      StoreOfColumn<C>{values(mean), rows});
    reduce_columns<C>(SquareFromMean<C>{values(x), mean.data<C>(), x.cols()}, x.rows(), x.cols(), sums,
                      StoreOfColumn<C>{values(variance), rows});
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
