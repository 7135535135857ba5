#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {

void sum(const View& x, double divisor, const View& y) {
  with_compute_type(x.dtype, [&]<class C> {
    const C total = sum_of_chunks<C>(x.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> in;
      const C* values = load(x, begin, n, in);
      LaneSum<C> lanes;
      for (std::int64_t i = 0; i < n; ++i) lanes.add(i, values[i]);
      return lanes.total();
    });
    *y.data<C>() = total / static_cast<C>(divisor);
  });
}

/// Down the rows, in order, for 64 columns at a time: each sum is one chain, whatever the number of threads.
void column_sums(const View& x, const View& y) {
  constexpr std::int64_t width = 64;
  const std::int64_t rows = x.rows(), columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    parallel_for((columns + width - 1) / width, rows * width < grain ? grain : 1,
                 [&](std::int64_t first, std::int64_t last) {
                   Block<C> in, sums;
                   for (std::int64_t strip = first; strip < last; ++strip) {
                     const std::int64_t c = strip * width, n = std::min(width, columns - c);
                     std::fill_n(sums.begin(), n, C(0));
                     for (std::int64_t row = 0; row < rows; ++row) {
                       const C* values = load(x, row * columns + c, n, in);
                       for (std::int64_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(i)] += values[i];
                     }
                     store<C>(sums.data(), y, c, n);
                   }
                 });
  });
}

}  // namespace tinymp::kernels::cpu
