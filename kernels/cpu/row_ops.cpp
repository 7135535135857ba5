#include <kernels/cpu/rows.h>
#include <kernels/executors.h>
#include <kernels/formulas/row_chunks.h>
#include <kernels/formulas/softmax.h>

namespace tinymp::kernels::cpu {
namespace {

/// y:(B,C) = f(x, value of the row)
template <class F>
void with_row_values(const View& x, const View& by, const View& y, const F& f) {
  const std::int64_t columns = x.cols();
  with_compute_type(y.dtype, [&]<class C> {
    const Scratch<C> values(by.size());
    read(by, 0, by.size(), values.data());
    for_row_groups<C>(x, [&](std::int64_t b, std::int64_t rows, C* row) {
      read(x, b * columns, rows * columns, row);
      for (std::int64_t r = 0; r < rows; ++r) {
        const C value = values.data()[b + r];
        for (std::int64_t c = 0; c < columns; ++c) row[r * columns + c] = f(row[r * columns + c], value);
      }
      store<C>(row, y, b * columns, rows * columns);
    });
  });
}

/// dx:(B,C) = 0, except dy:(B) at place(b, values of row b).
template <class Place>
void to_one_place(const View& x, const View& dy, const View& dx, const Place& place) {
  const std::int64_t columns = dx.cols();
  with_compute_type(dx.dtype, [&]<class C> {
    const Scratch<C> errors(dy.size());
    read(dy, 0, dy.size(), errors.data());
    for_row_groups<C, 2>(dx, [&](std::int64_t b, std::int64_t rows, C* in, C* out) {
      read(x, b * columns, rows * columns, in);
      std::fill_n(out, rows * columns, C(0));
      for (std::int64_t r = 0; r < rows; ++r)
        out[r * columns + place(b + r, static_cast<const C*>(in + r * columns))] = errors.data()[b + r];
      store<C>(out, dx, b * columns, rows * columns);
    });
  });
}

/// y:(B) = of(values of row b)
template <class F>
void for_each_of_rows(const View& x, const View& y, const F& of) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    const Scratch<C> results(y.size());
    for_row_groups<C>(x, [&](std::int64_t b, std::int64_t rows, C* row) {
      read(x, b * columns, rows * columns, row);
      for (std::int64_t r = 0; r < rows; ++r)
        results.data()[b + r] = of(b + r, static_cast<const C*>(row + r * columns));
    });
    store<C>(results.data(), y, 0, y.size());
  });
}

auto label_at(std::span<const std::int32_t> labels) {
  return [labels](std::int64_t b) { return labels[static_cast<std::size_t>(b)]; };
}

}  // namespace

void row_sums(const View& x, const Accumulation& sums, const View& y) {
  if (x.size() == 0) return fill(y, 0);
  for_each_of_rows(x, y, [&]<class C>(std::int64_t, const C* row) {
    return sum_of_row<C>(x.cols(), sums, [row](std::int64_t c) { return row[c]; });
  });
}

void spread_rows(const View& values, const View& y) {
  const std::int64_t columns = y.cols();
  with_compute_type(y.dtype, [&]<class C> {
    const Scratch<C> wide(values.size());
    read(values, 0, values.size(), wide.data());
    for_row_groups<C>(y, [&](std::int64_t b, std::int64_t rows, C* row) {
      for (std::int64_t r = 0; r < rows; ++r) std::fill_n(row + r * columns, columns, wide.data()[b + r]);
      store<C>(row, y, b * columns, rows * columns);
    });
  });
}

void row_max(const View& x, const View& y) {
  for_each_of_rows(x, y, [&]<class C>(std::int64_t, const C* row) { return largest<C>(row, x.cols()); });
}

void row_max_backward(const View& x, const View& dy, const View& dx) {
  to_one_place(x, dy, dx,
               [&]<class C>(std::int64_t, const C* row) { return place_of_largest<C>(row, x.cols()); });
}

void subtract_rows(const View& x, const View& by, const View& y) {
  with_row_values(x, by, y, [](auto v, auto of_row) { return v - of_row; });
}

void divide_rows(const View& x, const View& by, const View& y) {
  with_row_values(x, by, y, [](auto v, auto of_row) { return v / of_row; });
}

void divide_rows_dby(const View& x, const View& by, const View& dy, const View& dby) {
  if (x.size() == 0) return fill(dby, 0);
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    const Scratch<C> results(by.size());
    C* of_row = results.data();
    read(by, 0, by.size(), of_row);
    for_row_groups<C, 2>(x, [&](std::int64_t b, std::int64_t rows, C* values, C* errors) {
      read(x, b * columns, rows * columns, values);
      read(dy, b * columns, rows * columns, errors);
      for (std::int64_t r = 0; r < rows; ++r) {
        const C *v = values + r * columns, *d = errors + r * columns, divisor = of_row[b + r];
        const auto term = [=](std::int64_t c) { return d[c] * (v[c] / divisor); };
        of_row[b + r] = -(sum_in_lanes<C>(columns, term) / divisor);
      }
    });
    store<C>(of_row, dby, 0, dby.size());
  });
}

void pick(const View& x, std::span<const std::int32_t> labels, const View& y) {
  for_each_of_rows(x, y, [label = label_at(labels)](std::int64_t b, auto* row) { return row[label(b)]; });
}

void pick_backward(const View& dy, std::span<const std::int32_t> labels, const View& dx) {
  const auto label = label_at(labels);
  with_compute_type(dx.dtype, [&]<class C> {
    const Scratch<C> errors(dy.size());
    read(dy, 0, dy.size(), errors.data());
    const std::int64_t columns = dx.cols();
    for_row_groups<C>(dx, [&](std::int64_t b, std::int64_t rows, C* row) {
      std::fill_n(row, rows * columns, C(0));
      for (std::int64_t r = 0; r < rows; ++r) row[r * columns + label(b + r)] = errors.data()[b + r];
      store<C>(row, dx, b * columns, rows * columns);
    });
  });
}

}  // namespace tinymp::kernels::cpu
