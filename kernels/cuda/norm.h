#pragma once

#include <kernels/cuda/column_sums.h>
#include <kernels/cuda/packs.h>
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

/// Means and 1/deviations of `count` neighbours.
template <class C, int count>
struct Moments {
  Pack<C, count> mean, inverse;

  template <Per per>
  __device__ static Moments of(const Normalized<C, per>& by, std::int64_t row, std::int64_t pack_of_row) {
    Moments found;
    if constexpr (per == Per::column) {
      found.mean = load_pack<count>(by.mean, pack_of_row);
      found.inverse = load_pack<count>(by.variance, pack_of_row);
      for (C& x : found.inverse.at) x = BatchNorm::inverse_deviation(x, by.epsilon);
    } else {
      const C mean = by.mean[row], inverse = BatchNorm::inverse_deviation(by.variance[row], by.epsilon);
      for (C& x : found.mean.at) x = mean;
      for (C& x : found.inverse.at) x = inverse;
    }
    return found;
  }
  __device__ C normalized(C x, int k) const { return BatchNorm::normalized(x, mean.at[k], inverse.at[k]); }
};

/// y = gamma xhat + beta, for x of T and gamma of G.
template <class T, class G, Per per>
struct Normalize {
  using C = ComputeType<T>;
  const T* x;
  Normalized<C, per> by;
  const G *gamma, *beta;
  T* y;

  template <int count>
  __device__ void at(std::int64_t p) const {
    const std::int64_t packs = by.columns / count, row = p / packs, of_row = p - row * packs;
    const auto moments = Moments<C, count>::of(by, row, of_row);
    const Pack<T, count> in = load_pack<count>(x, p);
    const Pack<G, count> g = load_pack<count>(gamma, of_row), b = load_pack<count>(beta, of_row);
    Pack<T, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k) {
      const C xhat = moments.normalized(device_converted<C>(in.at[k]), k);
      out.at[k] = device_converted<T>(
          BatchNorm::forward(xhat, device_converted<C>(g.at[k]), device_converted<C>(b.at[k])));
    }
    store_pack(y, p, out);
  }
};

/// Calls f.operator()<T, G>() for the formats of x and gamma: gamma has that of x, or that of its arithmetic.
template <class F>
void visit_norm(const View& x, const View& gamma, const F& f) {
  visit_dtype(x.dtype, [&]<class T> {
    if (gamma.dtype == x.dtype) {
      f.template operator()<T, T>();
    } else {
      expect(gamma.dtype == dtype_of<ComputeType<T>>, "a norm of ", x.dtype, " takes gamma and beta of ",
             x.dtype, " or ", dtype_of<ComputeType<T>>, ", not of ", gamma.dtype);
      f.template operator()<T, ComputeType<T>>();
    }
  });
}

template <Per per>
void run_normalize(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  if (x.size() == 0) return;
  visit_norm(x, gamma, [&]<class T, class G> {
    const auto of = normalized<ComputeType<T>, per>(by, x);
    const Packs packs = packs_in_rows(x.size(), x.cols(),
                                      {x.memory, y.memory, gamma.memory, beta.memory, of.mean, of.variance});
    launch_packs(Normalize<T, G, per>{x.data<T>(), of, gamma.data<G>(), beta.data<G>(), y.data<T>()}, packs);
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
