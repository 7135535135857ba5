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

/// dx, for x of T and gamma of G.
template <class T, class G>
struct BatchNormGradients {
  using C = ComputeType<T>;
  const T* x;
  Normalized<C, Per::column> by;
  const G* gamma;
  const T* dy;
  const C *dgamma, *dbeta;
  T* dx;
  C rows;

  template <int count>
  __device__ void at(std::int64_t p) const {
    const std::int64_t of_row = p % (by.columns / count);
    const auto moments = Moments<C, count>::of(by, 0, of_row);
    const Pack<T, count> in = load_pack<count>(x, p), error = load_pack<count>(dy, p);
    const Pack<G, count> g = load_pack<count>(gamma, of_row);
    const Pack<C, count> errors = load_pack<count>(dbeta, of_row),
                         products = load_pack<count>(dgamma, of_row);
    Pack<T, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k) {
      const C xhat = moments.normalized(device_converted<C>(in.at[k]), k);
      out.at[k] = device_converted<T>(
          BatchNorm::backward(xhat, moments.inverse.at[k], device_converted<C>(g.at[k]),
                              device_converted<C>(error.at[k]), errors.at[k] / rows, products.at[k] / rows));
    }
    store_pack(dx, p, out);
  }
};

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
  visit_norm(x, gamma, [&]<class T, class G> {
    using C = ComputeType<T>;
    const auto of = normalized<C, Per::column>(by, x);
    const C *to_gamma = dgamma.data<C>(), *to_beta = dbeta.data<C>();
    const Packs packs = packs_in_rows(
        x.size(), x.cols(),
        {x.memory, dy.memory, dx.memory, gamma.memory, of.mean, of.variance, to_gamma, to_beta});
    launch_packs(BatchNormGradients<T, G>{x.data<T>(), of, gamma.data<G>(), dy.data<T>(), to_gamma, to_beta,
                                          dx.data<T>(), static_cast<C>(x.rows())},
                 packs);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
