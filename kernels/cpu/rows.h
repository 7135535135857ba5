#pragma once

#include <kernels/cpu/block.h>
#include <kernels/cpu/scratch.h>
#include <tinymp/numeric/exp_log.h>
#include <utility>

/// Loops over the rows of (B,O). A row may be as short as 10 values, so one loop takes as many rows as fill a
/// block.
namespace tinymp::kernels::cpu {

/// The number of whole rows in a block; 1 when a row is longer than a block, and then it comes in pieces.
inline std::int64_t rows_in_block(std::int64_t columns) {
  return columns == 0 ? 1 : std::max<std::int64_t>(1, block_size / columns);
}

// Element-wise loops in which each column has values of its own, such as a bias, repeated for each row.
// ----------------------------------------------------------------------------------------------------

/// Repeats the first n values until each is there `times` times.
template <class C>
void repeat(C* values, std::int64_t n, std::int64_t times) {
  for (std::int64_t i = 1; i < times; ++i) std::copy_n(values, n, values + i * n);
}

/// A value for each column, repeated for all rows of a block.
template <class C>
class ByColumn {
 public:
  /// fill(to) writes the values of all columns.
  template <class Fill>
  ByColumn(const View& x, Fill&& fill)
      : times_(std::min(std::max<std::int64_t>(1, x.rows()), rows_in_block(x.cols()))),
        values_(x.cols() * times_) {
    fill(values_.data());
    repeat(values_.data(), x.cols(), times_);
  }
  /// The values for a piece that begins in this column.
  const C* from(std::int64_t column) const { return values_.data() + column; }

 private:
  std::int64_t times_;
  Scratch<C> values_;
};

/// Calls body(begin, n, column) for pieces of x, in parallel. A piece is several whole rows, and then column
/// is 0; or it is values begin .. begin + n of one long row.
template <class F>
void for_row_blocks(const View& x, F&& body) {
  const std::int64_t rows = x.rows(), columns = x.cols(), height = rows_in_block(columns);
  const std::int64_t units = (rows + height - 1) / height;
  const std::int64_t enough = std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, height * columns));
  parallel_for(units, enough, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t row = unit * height;
      const std::int64_t values = std::min(height, rows - row) * columns;  // of one row when it is long
      for (std::int64_t i = 0; i < values; i += block_size)
        body(row * columns + i, std::min(block_size, values - i), i);
    }
  });
}

// Loops that work on each row of (B,C) as a whole.
// ----------------------------------------------------------------------------------------------------

/// Calls body(b, count, room...) for groups of rows b .. b + count that fill a block, in parallel. It passes
/// `rooms` rooms for their values.
template <class C, std::size_t rooms = 1, class F>
void for_row_groups(const View& x, F&& body) {
  const std::int64_t rows = x.rows(), columns = x.cols(), height = rows_in_block(columns);
  const std::int64_t values = height * columns;
  constexpr std::int64_t blocks = 4;  // exp is slow: a fourth of `grain` is enough for a thread
  const std::int64_t enough =
      std::max<std::int64_t>(1, blocks * block_size / std::max<std::int64_t>(1, values));
  parallel_for((rows + height - 1) / height, enough, [&](std::int64_t first, std::int64_t last) {
    const Scratch<C> room(static_cast<std::int64_t>(rooms) * values);
    for (std::int64_t unit = first; unit < last; ++unit) {
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        body(unit * height, std::min(height, rows - unit * height),
             (room.data() + static_cast<std::int64_t>(i) * values)...);
      }
      (std::make_index_sequence<rooms>());
    }
  });
}

/// x[i] = e^x[i] for a whole group of rows, because a row of 10 is too short for vectors.
template <class C>
void exp_all(std::int64_t n, C* x) {
  for_each_value<C>(n, [=](std::int64_t i) { x[i] = exp(x[i]); });
}

}  // namespace tinymp::kernels::cpu
