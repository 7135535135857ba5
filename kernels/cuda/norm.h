#pragma once

#include <kernels/cuda/column_sums.h>
#include <kernels/formulas/norm.h>

/// What batch norm and layer norm share: they differ in whether a column or a row has one mean.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

enum class Per : std::uint8_t { column, row };

/// Normalizer inside a kernel, for value i of a matrix.
template <class C, Per per>
struct Normalized {
  const C *mean, *variance;
  C epsilon;
  std::int64_t columns;

  __device__ std::int64_t group(std::int64_t i) const {
    return per == Per::column ? i % columns : i / columns;
  }
  __device__ C inverse(std::int64_t i) const {
    return BatchNorm::inverse_deviation(variance[group(i)], epsilon);
  }
  __device__ C operator()(std::int64_t i, C x) const {
    return BatchNorm::normalized(x, mean[group(i)], inverse(i));
  }
};
template <class C, Per per>
Normalized<C, per> normalized(const Normalizer& by, const View& x) {
  return {by.mean.data<C>(), by.variance.data<C>(), static_cast<C>(by.epsilon), x.cols()};
}

/// y = gamma xhat + beta: a thread for each value.
template <class C, Per per>
__global__ void normalize(Values x, Normalized<C, per> by, Values gamma, Values beta, Values y,
                          std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t c = i % by.columns;
    y.set(i, BatchNorm::forward(by(i, x.get<C>(i)), gamma.get<C>(c), beta.get<C>(c)));
  }
}
template <Per per>
void run_normalize(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<normalize<C, per>>(blocks_for(x.size()), block_threads, 0, stream(), values(x),
                              normalized<C, per>(by, x), values(gamma), values(beta), values(y), x.size());
  });
}

/// dy xhat: the gradient of gamma is its sum, that of beta the sum of dy.
template <class C, Per per>
struct ErrorTimesNormalized {
  Values x;
  Normalized<C, per> by;
  Values dy;
  __device__ C operator()(std::int64_t row, std::int64_t c) const {
    const std::int64_t i = row * by.columns + c;
    return dy.get<C>(i) * by(i, x.get<C>(i));
  }
};
template <Per per>
void run_sum_gradients(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                       const View& dgamma, const View& dbeta) {
  if (x.cols() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    reduce_columns<C>(EachOfColumn<C>{values(dy), x.cols()}, x.rows(), x.cols(), sums,
                      StoreOfColumn<C>{values(dbeta)});
    reduce_columns<C>(ErrorTimesNormalized<C, per>{values(x), normalized<C, per>(by, x), values(dy)},
                      x.rows(), x.cols(), sums, StoreOfColumn<C>{values(dgamma)});
  });
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
