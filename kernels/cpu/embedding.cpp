#include <kernels/cpu/block.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {
namespace {

/// The number of rows of `columns` values that are enough for a thread.
std::int64_t enough_rows(std::int64_t columns) {
  return std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, columns));
}

}  // namespace

void embedding(const View& table, std::span<const std::int32_t> tokens, const View& y) {
  const std::int64_t columns = table.cols();
  visit_dtype(table.dtype, [&]<class T> {
    const T* rows = table.data<T>();
    parallel_for(y.rows(), enough_rows(columns), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t n = first; n < last; ++n)
        std::copy_n(rows + tokens[static_cast<std::size_t>(n)] * columns, columns, y.data<T>() + n * columns);
    });
  });
}

void embedding_backward(const View& dy, std::span<const std::int32_t> begins,
                        std::span<const std::int32_t> places, const View& dtable) {
  const std::int64_t columns = dtable.cols();
  const auto at = [](std::span<const std::int32_t> numbers, std::int64_t i) -> std::int64_t {
    return numbers[static_cast<std::size_t>(i)];
  };
  with_compute_type(dtable.dtype, [&]<class C> {
    const auto sum_row = [&](std::int64_t v, std::int64_t c, std::int64_t n) {
      Block<C> sums, in;
      std::fill_n(sums.data(), n, C(0));
      for (std::int64_t i = at(begins, v); i < at(begins, v + 1); ++i) {
        const C* d = load(dy, at(places, i) * columns + c, n, in);
        for_each_value<C>(n, [=, to = sums.data()](std::int64_t k) { to[k] += d[k]; });
      }
      store<C>(sums.data(), dtable, v * columns + c, n);
    };
    parallel_for(dtable.rows(), enough_rows(columns), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t v = first; v < last; ++v)
        for (std::int64_t c = 0; c < columns; c += block_size)
          sum_row(v, c, std::min(block_size, columns - c));
    });
  });
}

}  // namespace tinymp::kernels::cpu
