#pragma once

#include <kernels/cpu/rows.h>
#include <tinymp/numeric/exp_log.h>
#include <utility>

/// Loops in which each row of (B,C) is worked on as a whole.
namespace tinymp::kernels::cpu {

/// Calls body(b, count, room...) for groups of rows b .. b + count that fill a block, in parallel, with
/// `rooms` rooms for their values.
template <class C, std::size_t rooms = 1, class F>
void for_row_groups(const View& x, F&& body) {
  const std::int64_t rows = x.rows(), columns = x.cols(), height = rows_in_block(columns);
  const std::int64_t values = height * columns;
  constexpr std::int64_t blocks = 4;  // exp takes its time: a fourth of `grain` is enough for a thread
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

/// x[i] = e^x[i], for a whole group of rows: one row of 10 would be too short for it.
template <class C>
void exp_all(std::int64_t n, C* x) {
  for_each_value<C>(n, [=](std::int64_t i) { x[i] = exp(x[i]); });
}

}  // namespace tinymp::kernels::cpu
