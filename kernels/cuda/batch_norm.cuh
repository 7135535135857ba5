#pragma once

#include <kernels/cuda/values.h>
#include <kernels/row_chunks.h>

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

/// Normalizer inside a kernel.
template <class C>
struct ColumnNormalizer {
  const C *mean, *variance;
  C epsilon;
  __device__ C inverse(std::int64_t c) const { return BatchNorm::inverse_deviation(variance[c], epsilon); }
  __device__ C operator()(std::int64_t c, C x) const { return BatchNorm::normalized(x, mean[c], inverse(c)); }
};
template <class C>
ColumnNormalizer<C> column_normalizer(const Normalizer& by) {
  return {by.mean.data<C>(), by.variance.data<C>(), static_cast<C>(by.epsilon)};
}

template <class C>
__global__ void normalize(Values x, ColumnNormalizer<C> by, Values gamma, Values beta, Values y,
                          std::int64_t n, std::int64_t columns) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t c = i % columns;
    y.set(i, BatchNorm::forward(by(c, x.get<C>(i)), gamma.get<C>(c), beta.get<C>(c)));
  }
}

template <class C>
__global__ void sum_gradients(Values x, ColumnNormalizer<C> by, Values dy, std::int64_t rows,
                              std::int64_t columns, Accumulation sums, Values dgamma, Values dbeta) {
  for (std::int64_t c = first(); c < columns; c += stride()) {
    const auto error = [&](std::int64_t row) { return dy.get<C>(row * columns + c); };
    const auto product = [&](std::int64_t row) { return error(row) * by(c, x.get<C>(row * columns + c)); };
    dbeta.set(c, sum_in_chunks<C>(rows, sums, error));
    dgamma.set(c, sum_in_chunks<C>(rows, sums, product));
  }
}

template <class C>
__global__ void input_gradients(Values x, ColumnNormalizer<C> by, Values gamma, Values dy, const C* dgamma,
                                const C* dbeta, Values dx, std::int64_t rows, std::int64_t columns) {
  const C count = static_cast<C>(rows);
  for (std::int64_t i = first(); i < rows * columns; i += stride()) {
    const std::int64_t c = i % columns;
    dx.set(i, BatchNorm::backward(by(c, x.get<C>(i)), by.inverse(c), gamma.get<C>(c), dy.get<C>(i),
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
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<normalize<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x),
                         column_normalizer<C>(by), values(gamma), values(beta), values(y), x.size(),
                         x.cols());
  });
}

void batch_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  if (x.cols() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<sum_gradients<C>>(blocks_for(x.cols()), block_threads, 0, stream(), values(x),
                             column_normalizer<C>(by), values(dy), x.rows(), x.cols(), sums, values(dgamma),
                             values(dbeta));
  });
}

void batch_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy, const View& dgamma,
                   const View& dbeta, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<input_gradients<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x),
                               column_normalizer<C>(by), values(gamma), values(dy), dgamma.data<C>(),
                               dbeta.data<C>(), values(dx), x.rows(), x.cols());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
