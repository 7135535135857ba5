#pragma once

#include <kernels/cuda/reduce.h>
#include <kernels/formulas/row_chunks.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// A thread goes down one column: neighbours read neighbours.
template <class C>
__global__ void sum_columns(Values x, std::int64_t rows, std::int64_t columns, Values y) {
  for (std::int64_t c = first(); c < columns; c += stride())
    y.set(c, sum_in_chunks<C>(rows, {}, [&](std::int64_t row) { return x.get<C>(row * columns + c); }));
}

}  // namespace

void sum(const View& x, double divisor, const View& y) {
  with_compute_type(x.dtype, [&]<class C> {
    reduce<C>(EachValue<C>{values(x)}, x.size(), StoreShare<C>{values(y), static_cast<C>(divisor)});
  });
}

void column_sums(const View& x, const View& y) {
  if (y.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<sum_columns<C>>(blocks_for(x.cols()), block_threads, 0, stream(), values(x), x.rows(), x.cols(),
                           values(y));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
