#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>
#include <vector>

namespace tinymp::kernels::cpu {

namespace {

template <class C>
void read_row(const View& x, std::int64_t b, std::span<C> row) {
  visit_dtype(x.dtype,
              [&]<class T> { convert(std::span<const T>(x.data<T>() + b * x.cols(), row.size()), row); });
}

template <class C>
void write_row(std::span<const C> row, const View& x, std::int64_t b) {
  visit_dtype(x.dtype, [&]<class T> { convert(row, std::span<T>(x.data<T>() + b * x.cols(), row.size())); });
}

std::size_t label_of(std::span<const std::int32_t> labels, std::int64_t b) {
  return static_cast<std::size_t>(labels[static_cast<std::size_t>(b)]);
}

}  // namespace

void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                   const View& loss) {
  const std::int64_t batch = logits.rows();
  with_compute_type(logits.dtype, [&]<class C> {
    std::vector<C> losses(static_cast<std::size_t>(batch));
    parallel_for(batch, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<C> row(static_cast<std::size_t>(logits.cols()));
      for (std::int64_t b = first; b < last; ++b) {
        read_row<C>(logits, b, row);
        const C log_sum = log_sum_exp<C>(row.data(), logits.cols());
        row_log_sum.data<C>()[b] = log_sum;
        losses[static_cast<std::size_t>(b)] = log_sum - row[label_of(labels, b)];
      }
    });
    const C total = sum_of_chunks<C>(batch, [&](std::int64_t begin, std::int64_t n) {
      LaneSum<C> lanes;
      for (std::int64_t i = 0; i < n; ++i) lanes.add(i, losses[static_cast<std::size_t>(begin + i)]);
      return lanes.total();
    });
    *loss.data<C>() = total / static_cast<C>(batch);
  });
}

void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                            const View& dloss, const View& dlogits) {
  const std::int64_t batch = logits.rows();
  with_compute_type(logits.dtype, [&]<class C> {
    const C factor = share_of(*dloss.data<C>(), 1, batch);
    parallel_for(batch, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<C> row(static_cast<std::size_t>(logits.cols()));
      for (std::int64_t b = first; b < last; ++b) {
        read_row<C>(logits, b, row);
        for (C& x : row) x = exp(x - row_log_sum.data<C>()[b]);
        row[label_of(labels, b)] -= C(1);
        for (C& x : row) x *= factor;
        write_row<C>(row, dlogits, b);
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
    const C factor = share_of(*dloss.data<C>(), 2, x.size());
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
