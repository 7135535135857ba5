#include <kernels/cpu/reduce.h>
#include <kernels/cpu/rows.h>
#include <kernels/executors.h>
#include <kernels/formulas/softmax.h>

namespace tinymp::kernels::cpu {
namespace {

template <class C>
C sum_of(const C* row, std::int64_t columns) {
  return long_lane_sum<C>(columns, [row](std::int64_t c) { return row[c]; });
}

/// Rows of x, each minus its largest value, so that exp of them is at most 1.
template <class C>
void read_below_top(const View& x, std::int64_t b, std::int64_t rows, C* values) {
  const std::int64_t columns = x.cols();
  read(x, b * columns, rows * columns, values);
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = values + r * columns;
    const C top = largest<C>(row, columns);
    for (std::int64_t c = 0; c < columns; ++c) row[c] -= top;
  }
}

/// Rows of softmax(x), not rounded.
template <class C>
void read_shares(const View& x, std::int64_t b, std::int64_t rows, C* values) {
  const std::int64_t columns = x.cols();
  read_below_top(x, b, rows, values);
  exp_all(rows * columns, values);
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = values + r * columns;
    const C sum = sum_of<C>(row, columns);
    for (std::int64_t c = 0; c < columns; ++c) row[c] = row[c] / sum;
  }
}

}  // namespace

void softmax(const View& x, const View& y) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_row_groups<C>(x, [&](std::int64_t b, std::int64_t rows, C* values) {
      read_shares(x, b, rows, values);
      store<C>(values, y, b * columns, rows * columns);
    });
  });
}

void softmax_backward(const View& y, const View& dy, const View& dx) {
  const std::int64_t columns = y.cols();
  with_compute_type(y.dtype, [&]<class C> {
    for_row_groups<C, 2>(y, [&](std::int64_t b, std::int64_t rows, C* shares, C* errors) {
      read(y, b * columns, rows * columns, shares);
      read(dy, b * columns, rows * columns, errors);
      for (std::int64_t r = 0; r < rows; ++r) {
        C *p = shares + r * columns, *d = errors + r * columns;
        const C mean = long_lane_sum<C>(columns, [=](std::int64_t c) { return d[c] * p[c]; });
        for (std::int64_t c = 0; c < columns; ++c) d[c] = p[c] * (d[c] - mean);
      }
      store<C>(errors, dx, b * columns, rows * columns);
    });
  });
}

void log_softmax(const View& x, const View& y) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_row_groups<C, 2>(x, [&](std::int64_t b, std::int64_t rows, C* values, C* shares) {
      read_below_top(x, b, rows, values);
      std::copy_n(values, rows * columns, shares);
      exp_all(rows * columns, shares);
      for (std::int64_t r = 0; r < rows; ++r) {
        const C log_sum = log(sum_of<C>(shares + r * columns, columns));
        for (std::int64_t c = 0; c < columns; ++c) values[r * columns + c] -= log_sum;
      }
      store<C>(values, y, b * columns, rows * columns);
    });
  });
}

void log_softmax_backward(const View& x, const View& dy, const View& dx) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_row_groups<C, 2>(x, [&](std::int64_t b, std::int64_t rows, C* shares, C* errors) {
      read_shares(x, b, rows, shares);
      read(dy, b * columns, rows * columns, errors);
      for (std::int64_t r = 0; r < rows; ++r) {
        C *p = shares + r * columns, *d = errors + r * columns;
        const C total = sum_of<C>(d, columns);
        for (std::int64_t c = 0; c < columns; ++c) d[c] -= p[c] * total;
      }
      store<C>(errors, dx, b * columns, rows * columns);
    });
  });
}

}  // namespace tinymp::kernels::cpu
