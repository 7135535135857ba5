#include <kernels/cpu/reduce.h>
#include <kernels/cpu/row_groups.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {
namespace {

std::int64_t label_of(std::span<const std::int32_t> labels, std::int64_t b) {
  return labels[static_cast<std::size_t>(b)];
}

/// largest(), 16 values at a time: the order of looking does not matter. Short rows are not worth it.
template <class C>
C largest_of(const C* row, std::int64_t n) {
  if (n < 64) return largest<C>(row, n);
  C result;
  on_best_isa([=, out = &result] {
    C tops[16];
    std::int32_t nans[16] = {};
    for (int lane = 0; lane < 16; ++lane) tops[lane] = row[lane];
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
      for (std::int64_t lane = 0; lane < 16; ++lane) {
        const C v = row[i + lane];
        nans[lane] |= v != v;
        tops[lane] = v > tops[lane] ? v : tops[lane];
      }
    }
    bool any_nan = false;
    for (int lane = 0; lane < 16; ++lane) any_nan |= nans[lane] != 0;
    const C rest = i < n ? largest<C>(row + i, n - i) : tops[0], most = largest<C>(tops, 16);
    *out = any_nan || rest != rest ? std::numeric_limits<C>::quiet_NaN() : std::max(most, rest);
  });
  return result;
}

/// How many rows are summed side by side: an addition that waits for none of the others can begin before they
/// end.
constexpr int rows_at_once = 8;

/// sums[r] = the chain of row r from its first value to its last.
template <int rows, class C>
TINYMP_INLINE void sum_side_by_side(const C* x, std::int64_t columns, C* sums) {
  C kept[rows] = {};
  for (std::int64_t c = 0; c < columns; ++c) {
    for (int r = 0; r < rows; ++r) kept[r] += x[r * columns + c];
  }
  for (int r = 0; r < rows; ++r) sums[r] = kept[r];
}

template <class C>
void sum_rows(const C* x, std::int64_t rows, std::int64_t columns, C* sums) {
  std::int64_t r = 0;
  for (; r + rows_at_once <= rows; r += rows_at_once)
    sum_side_by_side<rows_at_once>(x + r * columns, columns, sums + r);
  for (; r < rows; ++r) sum_side_by_side<1>(x + r * columns, columns, sums + r);
}

// <exercise log_sum_exp>
/// log sum exp of each row. `x` holds the rows, and is overwritten.
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* log_sum) {
  Block<C> tops;
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = x + r * columns;
    const C top = largest_of(row, columns);
    for (std::int64_t c = 0; c < columns; ++c) row[c] -= top;
    tops[static_cast<std::size_t>(r)] = top;
  }
  exp_all(rows * columns, x);
  sum_rows(x, rows, columns, log_sum);
  for_each_value<C>(rows, [=, top = tops.data()](std::int64_t r) { log_sum[r] = top[r] + log(log_sum[r]); });
}
// </exercise log_sum_exp>

}  // namespace

void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                   const View& loss) {
  const std::int64_t batch = logits.rows(), columns = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    const Scratch<C> losses(batch);
    const auto take = [&](std::int64_t b, std::int64_t rows, C* x) {
      read(logits, b * columns, rows * columns, x);
      C* log_sum = row_log_sum.data<C>() + b;
      C* of_row = losses.data() + b;
      for (std::int64_t r = 0; r < rows; ++r) of_row[r] = x[r * columns + label_of(labels, b + r)];
      log_sum_exp_rows(x, rows, columns, log_sum);
      for_each_value<C>(rows, [=](std::int64_t r) { of_row[r] = log_sum[r] - of_row[r]; });
    };
    for_row_groups<C>(logits, take, rows_at_once);
    const C total = sum_of_chunks<C>(batch, [&](std::int64_t begin, std::int64_t n) {
      return lane_sum<C>(n, [of_row = losses.data() + begin](std::int64_t i) { return of_row[i]; });
    });
    *loss.data<C>() = total / static_cast<C>(batch);
  });
}

// <exercise backward_of_cross_entropy>
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                            const View& dloss, const View& dlogits) {
  const std::int64_t batch = logits.rows(), columns = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    const C factor = share_of(*dloss.data<C>(), 1, batch);
    for_row_groups<C>(logits, [&](std::int64_t b, std::int64_t rows, C* x) {
      read(logits, b * columns, rows * columns, x);
      for (std::int64_t r = 0; r < rows; ++r) {
        const C log_sum = row_log_sum.data<C>()[b + r];
        for (std::int64_t c = 0; c < columns; ++c) x[r * columns + c] -= log_sum;
      }
      exp_all(rows * columns, x);
      for (std::int64_t r = 0; r != rows; ++r) x[r * columns + label_of(labels, b + r)] -= C(1);
      for_each_value<C>(rows * columns, [=](std::int64_t i) { x[i] *= factor; });
      store<C>(x, dlogits, b * columns, rows * columns);
    });
  });
}
// </exercise backward_of_cross_entropy>

void mse(const View& x, const View& target, const View& loss) {
  with_compute_type(x.dtype, [&]<class C> {
    const C total = sum_of_chunks<C>(x.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> left, right;
      const C* a = load(x, begin, n, left);
      const C* b = load(target, begin, n, right);
      return lane_sum<C>(n, [=](std::int64_t i) { return (a[i] - b[i]) * (a[i] - b[i]); });
    });
    *loss.data<C>() = total / static_cast<C>(x.size());
  });
}

void mse_backward(const View& x, const View& target, const View& dloss, const View& dx) {
  with_compute_type(x.dtype, [&]<class C> {
    const C factor = share_of(*dloss.data<C>(), 2, x.size());
    for_blocks<C>(
        x.size(),
        [&](std::int64_t begin, std::int64_t n) {
          Block<C> left, right, out;
          const C* a = load(x, begin, n, left);
          const C* b = load(target, begin, n, right);
          C* to = cpu::target(dx, begin, out);
          for_each_value<C>(n, [=](std::int64_t i) { to[i] = (a[i] - b[i]) * factor; });
          store<C>(to, dx, begin, n);
        },
        x, target, dx);
  });
}

}  // namespace tinymp::kernels::cpu
