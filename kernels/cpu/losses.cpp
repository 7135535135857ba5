#include <kernels/cpu/reduce.h>
#include <kernels/cpu/rows.h>
#include <kernels/executors.h>
#include <kernels/formulas/softmax.h>

namespace tinymp::kernels::cpu {
namespace {

std::int64_t label_of(std::span<const std::int32_t> labels, std::int64_t b) {
  return labels[static_cast<std::size_t>(b)];
}

/// largest(), 16 values at a time: the order does not change the result. Short rows are not worth it.
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

/// sums[r] = the sum of row r.
template <class C>
void sum_rows(const C* x, std::int64_t rows, std::int64_t columns, C* sums) {
  for (std::int64_t r = 0; r < rows; ++r)
    sums[r] = long_lane_sum<C>(columns, [row = x + r * columns](std::int64_t c) { return row[c]; });
}

// <exercise log_sum_exp>
/// log sum exp of each row, in two parts: the largest value, and log sum exp of the row minus that value. `x`
/// holds the rows and is overwritten.
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = x + r * columns;
    top[r] = largest_of(row, columns);
    for (std::int64_t c = 0; c < columns; ++c) row[c] -= top[r];
  }
  exp_all(rows * columns, x);
  sum_rows(x, rows, columns, log_sum);
  for_each_value<C>(rows, [=](std::int64_t r) { log_sum[r] = log(log_sum[r]); });
}
// </exercise log_sum_exp>

}  // namespace

void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                   const View& row_log_sum, const View& loss) {
  const std::int64_t batch = logits.rows(), columns = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    const Scratch<C> losses(batch);
    for_row_groups<C>(logits, [&](std::int64_t b, std::int64_t rows, C* x) {
      read(logits, b * columns, rows * columns, x);
      C *top = row_top.data<C>() + b, *log_sum = row_log_sum.data<C>() + b, *of_row = losses.data() + b;
      for (std::int64_t r = 0; r < rows; ++r) of_row[r] = x[r * columns + label_of(labels, b + r)];
      log_sum_exp_rows(x, rows, columns, top, log_sum);
      for (std::int64_t r = 0; r < rows; ++r) of_row[r] = LogSumExp<C>{top[r], log_sum[r]}.minus(of_row[r]);
    });
    const C total = long_lane_sum<C>(batch, [of_row = losses.data()](std::int64_t b) { return of_row[b]; });
    *loss.data<C>() = total / static_cast<C>(batch);
  });
}

// <exercise backward_of_cross_entropy>
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                            const View& row_log_sum, const View& dloss, const View& dlogits) {
  const std::int64_t batch = logits.rows(), columns = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    const C factor = share_of(*dloss.data<C>(), 1, batch);
    for_row_groups<C>(logits, [&](std::int64_t b, std::int64_t rows, C* x) {
      read(logits, b * columns, rows * columns, x);
      for (std::int64_t r = 0; r < rows; ++r) {
        const C top = row_top.data<C>()[b + r], log_sum = row_log_sum.data<C>()[b + r];
        for (std::int64_t c = 0; c < columns; ++c) x[r * columns + c] = (x[r * columns + c] - top) - log_sum;
      }
      exp_all(rows * columns, x);
      for (std::int64_t r = 0; r != rows; ++r) x[r * columns + label_of(labels, b + r)] -= C(1);
      for_each_value<C>(rows * columns, [=](std::int64_t i) { x[i] *= factor; });
      store<C>(x, dlogits, b * columns, rows * columns);
    });
  });
}
// </exercise backward_of_cross_entropy>

void cross_entropy_and_gradient(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                                const View& row_log_sum, const View& loss, const View& dloss,
                                const View& dlogits) {
  cross_entropy(logits, labels, row_top, row_log_sum, loss);
  cross_entropy_backward(logits, labels, row_top, row_log_sum, dloss, dlogits);
}

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
