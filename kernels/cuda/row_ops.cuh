#pragma once

#include <kernels/cuda/packs.h>
#include <kernels/cuda/rows.h>
#include <kernels/formulas/softmax.h>

/// Rows of (B,C): sixteen threads for what a row has one of; the rest moves packs.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void sum_each_row(Values x, std::int64_t rows, std::int64_t columns, Accumulation sums, Values y) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> row{x, b * columns};
    const C sum = BySixteen::sum<C>(columns, sums, [&](std::int64_t c) { return row[c]; });
    if (is_first_of_row()) y.set(b, sum);
  });
}

/// y[b,c] = of_rows[b]
template <class T>
struct SpreadRows {
  const T* of_rows;
  T* y;
  std::int64_t columns;

  template <int count>
  __device__ void at(std::int64_t p) const {
    Pack<T, count> out;
    for (T& value : out.at) value = of_rows[p / (columns / count)];
    store_pack(y, p, out);
  }
};

struct SubtractSecond {
  template <class C>
  __device__ C operator()(C x, C of_row) const {
    return x - of_row;
  }
};
struct DivideBySecond {
  template <class C>
  __device__ C operator()(C x, C of_row) const {
    return x / of_row;
  }
};

/// y[b,c] = F()(x[b,c], by[b])
template <class T, class F>
struct WithRow {
  const T *x, *by;
  T* y;
  std::int64_t columns;

  template <int count>
  __device__ void at(std::int64_t p) const {
    using C = ComputeType<T>;
    const C of_row = device_converted<C>(by[p / (columns / count)]);
    const Pack<T, count> in = load_pack<count>(x, p);
    Pack<T, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k)
      out.at[k] = device_converted<T>(F()(device_converted<C>(in.at[k]), of_row));
    store_pack(y, p, out);
  }
};
template <class C>
__global__ void largest_of_rows(Values x, std::int64_t rows, std::int64_t columns, Values y) {
  for_rows(rows, [&](std::int64_t b) {
    const C top = BySixteen::largest<C>(Row<C>{x, b * columns}, columns);
    if (is_first_of_row()) y.set(b, top);
  });
}

template <class C>
__global__ void gradients_of_largest(Values x, Values dy, std::int64_t rows, std::int64_t columns,
                                     Values dx) {
  for (std::int64_t b = first(); b < rows; b += stride()) {
    const std::int64_t place = place_of_largest<C>(Row<C>{x, b * columns}, columns);
    for (std::int64_t c = 0; c < columns; ++c) dx.set(b * columns + c, c == place ? dy.get<C>(b) : C(0));
  }
}

template <class C>
__global__ void divisor_gradients(Values x, Values by, Values dy, std::int64_t rows, std::int64_t columns,
                                  Values dby) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> row{x, b * columns}, error{dy, b * columns};
    const C divisor = by.get<C>(b);
    const auto term = [&](std::int64_t c) { return error[c] * (row[c] / divisor); };
    const C sum = BySixteen::sum<C>(columns, {}, term);
    if (is_first_of_row()) dby.set(b, -(sum / divisor));
  });
}

template <class C>
__global__ void pick_of_rows(Values x, const std::int32_t* labels, std::int64_t rows, std::int64_t columns,
                             Values y) {
  for (std::int64_t b = first(); b < rows; b += stride()) y.set(b, x.get<C>(b * columns + labels[b]));
}

template <class C>
__global__ void gradients_of_picked(Values dy, const std::int32_t* labels, std::int64_t n,
                                    std::int64_t columns, Values dx) {
  for (std::int64_t i = first(); i < n; i += stride())
    dx.set(i, i % columns == labels[i / columns] ? dy.get<C>(i / columns) : C(0));
}

template <class F>
void run_with_row(const View& x, const View& by, const View& y) {
  expect_one_format(x, y);
  expect_one_format(by, y);
  if (y.size() == 0) return;
  visit_dtype(y.dtype, [&]<class T> {
    launch_packs(WithRow<T, F>{x.data<T>(), by.data<T>(), y.data<T>(), y.cols()},
                 packs_in_rows(y.size(), y.cols(), {x.memory, y.memory}));
  });
}

}  // namespace

void row_sums(const View& x, const Accumulation& sums, const View& y) {
  if (x.size() == 0) return fill(y, 0);
  with_compute_type(x.dtype, [&]<class C> {
    launch<sum_each_row<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x), x.rows(),
                            x.cols(), sums, values(y));
  });
}

void spread_rows(const View& of_rows, const View& y) {
  expect_one_format(of_rows, y);
  if (y.size() == 0) return;
  visit_dtype(y.dtype, [&]<class T> {
    launch_packs(SpreadRows<T>{of_rows.data<T>(), y.data<T>(), y.cols()},
                 packs_in_rows(y.size(), y.cols(), {y.memory}));
  });
}

void row_max(const View& x, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<largest_of_rows<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x), x.rows(),
                               x.cols(), values(y));
  });
}

void row_max_backward(const View& x, const View& dy, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<gradients_of_largest<C>>(blocks_for(x.rows()), block_threads, 0, stream(), values(x), values(dy),
                                    x.rows(), x.cols(), values(dx));
  });
}

void subtract_rows(const View& x, const View& by, const View& y) { run_with_row<SubtractSecond>(x, by, y); }
void divide_rows(const View& x, const View& by, const View& y) { run_with_row<DivideBySecond>(x, by, y); }

void divide_rows_dby(const View& x, const View& by, const View& dy, const View& dby) {
  if (x.size() == 0) return fill(dby, 0);
  with_compute_type(x.dtype, [&]<class C> {
    launch<divisor_gradients<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x), values(by),
                                 values(dy), x.rows(), x.cols(), values(dby));
  });
}

void pick(const View& x, std::span<const std::int32_t> labels, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<pick_of_rows<C>>(blocks_for(x.rows()), block_threads, 0, stream(), values(x), labels.data(),
                            x.rows(), x.cols(), values(y));
  });
}

void pick_backward(const View& dy, std::span<const std::int32_t> labels, const View& dx) {
  if (dx.size() == 0) return;
  with_compute_type(dx.dtype, [&]<class C> {
    launch<gradients_of_picked<C>>(blocks_for(dx.size()), block_threads, 0, stream(), values(dy),
                                   labels.data(), dx.size(), dx.cols(), values(dx));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
