#include <kernels/cpu/cpu.h>
#include <kernels/cpu/reduce.h>
#include <vector>

namespace tinymp::kernels::cpu {

/// Row by row:  log sum exp(x) = top + log sum exp(x - top).  The largest logit is taken out first, or exp
/// overflows.
void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                   const View& loss) {
  const std::int64_t batch = logits.rows(), classes = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    std::vector<C> losses(static_cast<std::size_t>(batch));
    parallel_for(batch, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<C> row(static_cast<std::size_t>(classes));
      for (std::int64_t b = first; b < last; ++b) {
        visit_dtype(logits.dtype, [&]<class T> {
          convert(std::span<const T>(logits.data<T>() + b * classes, row.size()), std::span<C>(row));
        });
        C top = row[0];
        for (const C x : row) top = x > top || x != x ? x : top;  // a NaN becomes the top and stays
        C sum = 0;
        for (const C x : row) sum += exp(x - top);
        const C log_sum = top + log(sum);
        row_log_sum.data<C>()[b] = log_sum;
        losses[static_cast<std::size_t>(b)] =
            log_sum - row[static_cast<std::size_t>(labels[static_cast<std::size_t>(b)])];
      }
    });
    C total = 0;
    for (const C x : losses) total += x;
    *loss.data<C>() = total / static_cast<C>(batch);
  });
}

void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                            const View& dloss, const View& dlogits) {
  const std::int64_t batch = logits.rows(), classes = logits.cols();
  with_compute_type(logits.dtype, [&]<class C> {
    const C factor = *dloss.data<C>() / static_cast<C>(batch);
    parallel_for(batch, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<C> row(static_cast<std::size_t>(classes));
      for (std::int64_t b = first; b < last; ++b) {
        visit_dtype(logits.dtype, [&]<class T> {
          convert(std::span<const T>(logits.data<T>() + b * classes, row.size()), std::span<C>(row));
        });
        for (C& x : row) x = exp(x - row_log_sum.data<C>()[b]);
        row[static_cast<std::size_t>(labels[static_cast<std::size_t>(b)])] -= C(1);
        for (C& x : row) x *= factor;
        visit_dtype(dlogits.dtype, [&]<class T> {
          convert(std::span<const C>(row), std::span<T>(dlogits.data<T>() + b * classes, row.size()));
        });
      }
    });
  });
}

void mse(const View& x, const View& target, const View& loss) {
  with_compute_type(x.dtype, [&]<class C> {
    const C total = sum_of_chunks<C>(x.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> left, right;
      const C* a = load(x, begin, n, left);
      const C* b = load(target, begin, n, right);
      LaneSum<C> lanes;
      for (std::int64_t i = 0; i < n; ++i) lanes.add(i, (a[i] - b[i]) * (a[i] - b[i]));
      return lanes.total();
    });
    *loss.data<C>() = total / static_cast<C>(x.size());
  });
}

void mse_backward(const View& x, const View& target, const View& dloss, const View& dx) {
  with_compute_type(x.dtype, [&]<class C> {
    const C factor = C(2) * *dloss.data<C>() / static_cast<C>(x.size());
    for_blocks(x.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> left, right, out;
      const C* a = load(x, begin, n, left);
      const C* b = load(target, begin, n, right);
      C* to = cpu::target(dx, begin, out);
      for (std::int64_t i = 0; i < n; ++i) to[i] = (a[i] - b[i]) * factor;
      store<C>(to, dx, begin, n);
    });
  });
}

}  // namespace tinymp::kernels::cpu
