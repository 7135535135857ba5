#pragma once

#include <kernels/cuda/column_sums.h>
#include <kernels/cuda/reduce.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// The terms of the sums down dx, each of which is computed and stored on the way.
template <class F, class C>
struct GradientOfColumn {
  Values y, dy, dx;
  std::int64_t columns;
  __device__ C operator()(std::int64_t row, std::int64_t c) const {
    const std::int64_t i = row * columns + c;
    dx.set(i, F::backward(y.get<C>(i), dy.get<C>(i)));
    return dx.get<C>(i);
  }
};

}  // namespace

void sum(const View& x, double divisor, const View& y) {
  with_compute_type(x.dtype, [&]<class C> {
    reduce<C>(EachValue<C>{values(x)}, x.size(), StoreShare<C>{values(y), static_cast<C>(divisor)});
  });
}

void column_sums(const View& x, const View& y) {
  if (y.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    reduce_columns<C>(EachOfColumn<C>{values(x), x.cols()}, x.rows(), x.cols(), {},
                      StoreOfColumn<C>{values(y)});
  });
}

void unary_backward_and_sums(Unary f, const View& y, const View& dy, const View& dx, const View& sums) {
  if (dx.size() == 0) return column_sums(dx, sums);
  visit_unary(f, [&]<class F> {
    with_compute_type(dx.dtype, [&]<class C> {
      reduce_columns<C>(GradientOfColumn<F, C>{values(y), values(dy), values(dx), dx.cols()}, dx.rows(),
                        dx.cols(), {}, StoreOfColumn<C>{values(sums)});
    });
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
