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

namespace {

/// The places of each token, in order: token v occurs at places[begins[v]] up to places[begins[v + 1]], which
/// is not included.
struct Occurrences {
  std::vector<std::int64_t> begins, places;

  Occurrences(std::span<const std::int32_t> tokens, std::int64_t words)
      : begins(static_cast<std::size_t>(words) + 1), places(tokens.size()) {
    for (const std::int32_t token : tokens) ++begins[static_cast<std::size_t>(token) + 1];
    for (std::size_t v = 1; v < begins.size(); ++v) begins[v] += begins[v - 1];
    std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      std::int64_t& at = next[static_cast<std::size_t>(tokens[n])];
      places[static_cast<std::size_t>(at++)] = static_cast<std::int64_t>(n);
    }
  }

  std::span<const std::int64_t> of(std::int64_t v) const {
    const auto begin = static_cast<std::size_t>(begins[static_cast<std::size_t>(v)]),
               end = static_cast<std::size_t>(begins[static_cast<std::size_t>(v) + 1]);
    return std::span(places).subspan(begin, end - begin);
  }
};

}  // namespace

void embedding_backward(const View& dy, std::span<const std::int32_t> tokens, const View& dtable) {
  const std::int64_t columns = dtable.cols();
  if (dtable.size() == 0) return;
  const Occurrences found(tokens, dtable.rows());
  with_compute_type(dtable.dtype, [&]<class C> {
    const auto sum_row = [&](std::int64_t v, std::int64_t c, std::int64_t n) {
      Block<C> sums, in;
      std::fill_n(sums.data(), n, C(0));
      for (const std::int64_t place : found.of(v)) {
        const C* d = load(dy, place * columns + c, n, in);
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
