#pragma once

#include <kernels/cuda/reduce.h>
#include <kernels/cuda/rows.h>
#include <kernels/formulas/softmax.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void row_losses(Values logits, std::int64_t rows, std::int64_t classes, const std::int32_t* labels,
                           C* row_top, C* row_log_sum, C* losses) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> row{logits, b * classes};
    const LogSumExp<C> found = log_sum_exp<C, BySixteen>(row, classes);
    if (!is_first_of_row()) return;
    row_top[b] = found.top;
    row_log_sum[b] = found.rest;
    losses[b] = found.minus(row[labels[b]]);
  });
}

/// A thread for each logit.
template <class C>
__global__ void logit_gradients(Values logits, std::int64_t rows, std::int64_t classes,
                                const std::int32_t* labels, const C* row_top, const C* row_log_sum,
                                const C* dloss, Values dlogits) {
  for (std::int64_t i = first(); i < rows * classes; i += stride()) {
    const std::int64_t b = i / classes;
    C share = LogSumExp<C>{row_top[b], row_log_sum[b]}.share_of(logits.get<C>(i));
    if (i % classes == labels[b]) share -= C(1);
    dlogits.set(i, share * share_of(*dloss, 1, rows));
  }
}

template <class C>
struct SquaredDifference {
  Values x, target;
  __device__ C operator()(std::int64_t i) const {
    const C difference = x.get<C>(i) - target.get<C>(i);
    return difference * difference;
  }
};

template <class C>
__global__ void difference_gradients(Values x, Values target, const C* dloss, Values dx, std::int64_t n) {
  const C factor = share_of(*dloss, 2, n);
  for (std::int64_t i = first(); i < n; i += stride()) dx.set(i, (x.get<C>(i) - target.get<C>(i)) * factor);
}

}  // namespace

void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                   const View& row_log_sum, const View& loss) {
  const std::int64_t batch = logits.rows();
  with_compute_type(logits.dtype, [&]<class C> {
    const Scratch<C> losses(batch);
    launch<row_losses<C>>(blocks_for_rows(batch), block_threads, 0, stream(), values(logits), batch,
                          logits.cols(), labels.data(), row_top.data<C>(), row_log_sum.data<C>(),
                          losses.data());
    reduce<C>(EachValue<C>{{losses.data(), dtype_of<C>}}, batch,
              StoreShare<C>{values(loss), static_cast<C>(batch)});
  });
}

void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                            const View& row_log_sum, const View& dloss, const View& dlogits) {
  if (logits.size() == 0) return;
  with_compute_type(logits.dtype, [&]<class C> {
    launch<logit_gradients<C>>(blocks_for(logits.size()), block_threads, 0, stream(), values(logits),
                               logits.rows(), logits.cols(), labels.data(), row_top.data<C>(),
                               row_log_sum.data<C>(), dloss.data<C>(), values(dlogits));
  });
}

void mse(const View& x, const View& target, const View& loss) {
  with_compute_type(x.dtype, [&]<class C> {
    reduce<C>(SquaredDifference<C>{values(x), values(target)}, x.size(),
              StoreShare<C>{values(loss), static_cast<C>(x.size())});
  });
}

void mse_backward(const View& x, const View& target, const View& dloss, const View& dx) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<difference_gradients<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x),
                                    values(target), dloss.data<C>(), values(dx), x.size());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
