#pragma once

#include <kernels/cuda/values.h>
#include <kernels/layer_norm.h>

/// A thread goes along one row for its moments and errors, down one column for the sums of gamma and beta.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void moments_of_rows(Values x, std::int64_t rows, std::int64_t columns, Accumulation sums, C* mean,
                                C* variance) {
  for (std::int64_t b = first(); b < rows; b += stride()) {
    const RowMoments<C> found = row_moments_of<C>(Row<C>{x, b * columns}, columns, sums);
    mean[b] = found.mean;
    variance[b] = found.variance;
  }
}

/// Normalizer inside a kernel.
template <class C>
struct RowNormalizer {
  const C *mean, *variance;
  C epsilon;
  __device__ C inverse(std::int64_t b) const { return BatchNorm::inverse_deviation(variance[b], epsilon); }
  __device__ C operator()(std::int64_t b, C x) const { return BatchNorm::normalized(x, mean[b], inverse(b)); }
};
template <class C>
RowNormalizer<C> row_normalizer(const Normalizer& by) {
  return {by.mean.data<C>(), by.variance.data<C>(), static_cast<C>(by.epsilon)};
}

template <class C>
__global__ void normalize_rows(Values x, RowNormalizer<C> by, Values gamma, Values beta, Values y,
                               std::int64_t n, std::int64_t columns) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t c = i % columns;
    y.set(i, BatchNorm::forward(by(i / columns, x.get<C>(i)), gamma.get<C>(c), beta.get<C>(c)));
  }
}

template <class C>
__global__ void sum_gradients_of_rows(Values x, RowNormalizer<C> by, Values dy, std::int64_t rows,
                                      std::int64_t columns, Accumulation sums, C* dgamma, C* dbeta) {
  for (std::int64_t c = first(); c < columns; c += stride()) {
    const auto error = [&](std::int64_t b) { return dy.get<C>(b * columns + c); };
    const auto product = [&](std::int64_t b) { return error(b) * by(b, x.get<C>(b * columns + c)); };
    dbeta[c] = sum_in_chunks<C>(rows, sums, error);
    dgamma[c] = sum_in_chunks<C>(rows, sums, product);
  }
}

template <class C>
__global__ void input_gradients_of_rows(Values x, RowNormalizer<C> by, Values gamma, Values dy,
                                        Accumulation sums, Values dx, std::int64_t rows,
                                        std::int64_t columns) {
  for (std::int64_t b = first(); b < rows; b += stride()) {
    const std::int64_t begin = b * columns;
    const auto xhat = [&](std::int64_t c) { return by(b, x.get<C>(begin + c)); };
    const auto error = [&](std::int64_t c) { return gamma.get<C>(c) * dy.get<C>(begin + c); };
    const auto set = [&](std::int64_t c, C value) { dx.set(begin + c, value); };
    layer_norm_dx_row<C>(columns, sums, by.inverse(b), xhat, error, set);
  }
}

}  // namespace

void row_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<moments_of_rows<C>>(blocks_for(x.rows()), block_threads, 0, stream(), values(x), x.rows(),
                               x.cols(), sums, mean.data<C>(), variance.data<C>());
  });
}

void layer_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<normalize_rows<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x),
                              row_normalizer<C>(by), values(gamma), values(beta), values(y), x.size(),
                              x.cols());
  });
}

void layer_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  if (x.cols() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<sum_gradients_of_rows<C>>(blocks_for(x.cols()), block_threads, 0, stream(), values(x),
                                     row_normalizer<C>(by), values(dy), x.rows(), x.cols(), sums,
                                     dgamma.data<C>(), dbeta.data<C>());
  });
}

void layer_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy,
                   const Accumulation& sums, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<input_gradients_of_rows<C>>(blocks_for(x.rows()), block_threads, 0, stream(), values(x),
                                       row_normalizer<C>(by), values(gamma), values(dy), sums, values(dx),
                                       x.rows(), x.cols());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
