#pragma once

#include <kernels/cuda/column_sums.h>
#include <kernels/cuda/packs.h>
#include <kernels/cuda/reduce.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// A thread for each column of at most one chunk. It loads some rows ahead: else each row would wait for the one before.
inline constexpr int rows_ahead = 8;
template <class F, class T>
__global__ void backward_and_sum(const T* y, const T* dy, T* dx, T* sums, std::int64_t rows,
                                 std::int64_t columns) {
  using C = ComputeType<T>;
  for (std::int64_t c = first(); c < columns; c += stride()) {
    C sum = 0;
    for (std::int64_t begin = 0; begin < rows; begin += rows_ahead) {
      T from[rows_ahead], to[rows_ahead];
      TINYMP_UNROLL
      for (int k = 0; k < rows_ahead; ++k) {
        const std::int64_t row = begin + k < rows ? begin + k : begin;
        from[k] = y[row * columns + c], to[k] = dy[row * columns + c];
      }
      TINYMP_UNROLL
      for (int k = 0; k < rows_ahead; ++k) {
        if (begin + k >= rows) break;
        const T d =
            device_converted<T>(F::backward(device_converted<C>(from[k]), device_converted<C>(to[k])));
        dx[(begin + k) * columns + c] = d;
        sum += device_converted<C>(d);
      }
    }
    sums[c] = device_converted<T>(C(0) + sum);  // as the sum of one chunk: -0 becomes +0
  }
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
    reduce_columns<C>(EachOfColumn<C>{values(x), x.cols()}, x.rows(), x.cols(), {},
                      StoreOfColumn<C>{values(y)});
  });
}

void unary_backward_and_sums(Unary f, const View& y, const View& dy, const View& dx, const View& sums) {
  const bool one_chunk = dx.size() > 0 && dx.rows() <= rows_in_chunk({}, dx.rows());
  const bool one_format = y.dtype == dx.dtype && dy.dtype == dx.dtype && sums.dtype == dx.dtype;
  if (!one_chunk || !one_format) {
    TINYMP_EXECUTOR::unary_backward(f, y, dy, dx);
    column_sums(dx, sums);
    return;
  }
  visit_unary(f, [&]<class F> {
    visit_dtype(dx.dtype, [&]<class T> {
      launch<backward_and_sum<F, T>>(blocks_for(dx.cols()), block_threads, 0, stream(), y.data<T>(),
                                     dy.data<T>(), dx.data<T>(), sums.data<T>(), dx.rows(), dx.cols());
    });
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
