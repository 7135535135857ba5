#pragma once

#include <kernels/cuda/rows.h>
#include <kernels/formulas/softmax.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C, bool logarithm>
__global__ void shares_of_rows(Values x, std::int64_t rows, std::int64_t columns, Values y) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> row{x, b * columns};
    const C top = BySixteen::largest<C>(row, columns);
    const C sum = BySixteen::sum<C>(columns, {}, [&](std::int64_t c) { return exp(row[c] - top); });
    const C log_sum = logarithm ? log(sum) : C(0);
    BySixteen::each(columns, [&](std::int64_t c) {
      y.set(b * columns + c, logarithm ? (row[c] - top) - log_sum : exp(row[c] - top) / sum);
    });
  });
}

template <class C>
__global__ void share_gradients(Values y, Values dy, std::int64_t rows, std::int64_t columns, Values dx) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> share{y, b * columns}, error{dy, b * columns};
    const C mean = BySixteen::sum<C>(columns, {}, [&](std::int64_t c) { return error[c] * share[c]; });
    BySixteen::each(columns, [&](std::int64_t c) { dx.set(b * columns + c, share[c] * (error[c] - mean)); });
  });
}

template <class C>
__global__ void log_share_gradients(Values x, Values dy, std::int64_t rows, std::int64_t columns, Values dx) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> row{x, b * columns}, error{dy, b * columns};
    const C top = BySixteen::largest<C>(row, columns);
    const C sum = BySixteen::sum<C>(columns, {}, [&](std::int64_t c) { return exp(row[c] - top); });
    const C total = BySixteen::sum<C>(columns, {}, [&](std::int64_t c) { return error[c]; });
    BySixteen::each(columns, [&](std::int64_t c) {
      dx.set(b * columns + c, error[c] - exp(row[c] - top) / sum * total);
    });
  });
}

}  // namespace

void softmax(const View& x, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<shares_of_rows<C, false>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x),
                                     x.rows(), x.cols(), values(y));
  });
}

void softmax_backward(const View& y, const View& dy, const View& dx) {
  if (y.size() == 0) return;
  with_compute_type(y.dtype, [&]<class C> {
    launch<share_gradients<C>>(blocks_for_rows(y.rows()), block_threads, 0, stream(), values(y), values(dy),
                               y.rows(), y.cols(), values(dx));
  });
}

void log_softmax(const View& x, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<shares_of_rows<C, true>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x),
                                    x.rows(), x.cols(), values(y));
  });
}

void log_softmax_backward(const View& x, const View& dy, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<log_share_gradients<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x),
                                   values(dy), x.rows(), x.cols(), values(dx));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
