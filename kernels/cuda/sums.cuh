#pragma once

#include <kernels/cuda/column_sums.h>
#include <kernels/cuda/reduce.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {

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

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
