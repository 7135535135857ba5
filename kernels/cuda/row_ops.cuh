#pragma once

#include <kernels/cuda/rows.h>
#include <kernels/formulas/softmax.h>

/// Rows of (B,C): sixteen threads for a sum along each row, one for its largest, else one for each value.
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

template <class C>
__global__ void spread_each(Values values, std::int64_t n, std::int64_t columns, Values y) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, values.get<C>(i / columns));
}

template <class C>
__global__ void largest_of_rows(Values x, std::int64_t rows, std::int64_t columns, Values y) {
  for (std::int64_t b = first(); b < rows; b += stride())
    y.set(b, largest<C>(Row<C>{x, b * columns}, columns));
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
__global__ void subtract_of_row(Values x, Values by, std::int64_t n, std::int64_t columns, Values y) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, x.get<C>(i) - by.get<C>(i / columns));
}

template <class C>
__global__ void divide_by_row(Values x, Values by, std::int64_t n, std::int64_t columns, Values y) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, x.get<C>(i) / by.get<C>(i / columns));
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

}  // namespace

void row_sums(const View& x, const Accumulation& sums, const View& y) {
  if (x.size() == 0) return fill(y, 0);
  with_compute_type(x.dtype, [&]<class C> {
    launch<sum_each_row<C>>(blocks_for_rows(x.rows()), block_threads, 0, stream(), values(x), x.rows(),
                            x.cols(), sums, values(y));
  });
}

void spread_rows(const View& of_rows, const View& y) {
  if (y.size() == 0) return;
  with_compute_type(y.dtype, [&]<class C> {
    launch<spread_each<C>>(blocks_for(y.size()), block_threads, 0, stream(), values(of_rows), y.size(),
                           y.cols(), values(y));
  });
}

void row_max(const View& x, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<largest_of_rows<C>>(blocks_for(x.rows()), block_threads, 0, stream(), values(x), x.rows(),
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

void subtract_rows(const View& x, const View& by, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<subtract_of_row<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x), values(by),
                               x.size(), x.cols(), values(y));
  });
}

void divide_rows(const View& x, const View& by, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<divide_by_row<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x), values(by),
                             x.size(), x.cols(), values(y));
  });
}

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
