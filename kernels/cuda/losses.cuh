#pragma once

#include <kernels/cuda/packs.h>
#include <kernels/cuda/reduce.h>
#include <kernels/cuda/rows.h>
#include <kernels/formulas/softmax.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// Cross-entropy inside a kernel. Without memory for dlogits there is no gradient.
template <class C>
struct CrossEntropy {
  Values logits;
  std::int64_t rows, classes;
  const std::int32_t* labels;
  C *row_top, *row_log_sum, *losses;
  const C* dloss;
  Values dlogits;

  __device__ void row(std::int64_t b) const {
    const Row<C> x{logits, b * classes};
    const LogSumExp<C> found = log_sum_exp<C, BySixteen>(x, classes);
    const std::int64_t label = labels[b];
    if (is_first_of_row()) {
      row_top[b] = found.top;
      row_log_sum[b] = found.rest;
      losses[b] = found.minus(x[label]);
    }
    if (dlogits.memory == nullptr) return;
    const C factor = share_of(*dloss, 1, rows);
    BySixteen::each(classes, [&](std::int64_t c) {
      const C share = found.share_of(x[c]) - (c == label ? C(1) : C(0));
      dlogits.set(b * classes + c, share * factor);
    });
  }
};

template <class C>
__global__ void row_losses(CrossEntropy<C> of) {
  for_rows(of.rows, [&](std::int64_t b) { of.row(b); });
}

/// The same in one block, which then adds up the losses: a batch of usual size needs one launch.
inline constexpr int threads_of_mean = 512;
inline constexpr std::int64_t logits_of_mean = 1 << 14;
template <class C>
__global__ void __launch_bounds__(threads_of_mean) mean_loss(CrossEntropy<C> of, StoreShare<C> finish) {
  for_rows(of.rows, [&](std::int64_t b) { of.row(b); });
  __syncthreads();
  if (threadIdx.x >= row_threads) return;
  const C sum = BySixteen::sum_lanes_of<C>(of.rows, [&](std::int64_t b) { return of.losses[b]; });
  if (threadIdx.x == 0) finish(sum);
}

template <class T>
struct LogitGradients {
  using C = ComputeType<T>;
  const T* logits;
  std::int64_t rows, classes;
  const std::int32_t* labels;
  const C *row_top, *row_log_sum, *dloss;
  T* dlogits;

  template <int count>
  __device__ void at(std::int64_t p) const {
    const std::int64_t packs = classes / count, b = p / packs, c = (p - b * packs) * count;
    const LogSumExp<C> found{row_top[b], row_log_sum[b]};
    const std::int64_t label = labels[b];
    const C factor = share_of(*dloss, 1, rows);
    const Pack<T, count> in = load_pack<count>(logits, p);
    Pack<T, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k) {
      C share = found.share_of(device_converted<C>(in.at[k]));
      if (c + k == label) share -= C(1);
      out.at[k] = device_converted<T>(share * factor);
    }
    store_pack(dlogits, p, out);
  }
};

template <class C>
struct SquaredDifference {
  Values x, target;
  __device__ C operator()(std::int64_t i) const {
    const C difference = x.get<C>(i) - target.get<C>(i);
    return difference * difference;
  }
};

template <class T>
struct DifferenceGradients {
  using C = ComputeType<T>;
  const T* x;
  const C *target, *dloss;
  T* dx;
  std::int64_t n;

  template <int count>
  __device__ void at(std::int64_t p) const {
    const C factor = share_of(*dloss, 2, n);
    const Pack<T, count> in = load_pack<count>(x, p);
    const Pack<C, count> wanted = load_pack<count>(target, p);
    Pack<T, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k)
      out.at[k] = device_converted<T>((device_converted<C>(in.at[k]) - wanted.at[k]) * factor);
    store_pack(dx, p, out);
  }
};

}  // namespace

void cross_entropy_and_gradient(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                                const View& row_log_sum, const View& loss, const View& dloss,
                                const View& dlogits) {
  const std::int64_t batch = logits.rows();
  const bool in_one_block = logits.size() <= logits_of_mean;
  with_compute_type(logits.dtype, [&]<class C> {
    const Scratch<C> losses(batch);
    const CrossEntropy<C> of{values(logits),
                             batch,
                             logits.cols(),
                             labels.data(),
                             row_top.data<C>(),
                             row_log_sum.data<C>(),
                             losses.data(),
                             static_cast<const C*>(dloss.memory),
                             values(in_one_block ? dlogits : View{})};
    const StoreShare<C> finish{values(loss), static_cast<C>(batch)};
    if (in_one_block) {
      const std::int64_t threads = (batch * row_threads + 31) / 32 * 32;
      launch<mean_loss<C>>(1, static_cast<unsigned>(std::min<std::int64_t>(threads, threads_of_mean)), 0,
                           stream(), of, finish);
      return;
    }
    launch<row_losses<C>>(blocks_for_rows(batch), block_threads, 0, stream(), of);
    reduce<C>(EachValue<C>{{losses.data(), dtype_of<C>}}, batch, finish);
  });
  if (!in_one_block && dlogits.memory != nullptr)
    cross_entropy_backward(logits, labels, row_top, row_log_sum, dloss, dlogits);
}

void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                   const View& row_log_sum, const View& loss) {
  cross_entropy_and_gradient(logits, labels, row_top, row_log_sum, loss, {}, {});
}

void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_top,
                            const View& row_log_sum, const View& dloss, const View& dlogits) {
  expect_one_format(logits, dlogits);
  if (logits.size() == 0) return;
  visit_dtype(logits.dtype, [&]<class T> {
    using C = ComputeType<T>;
    launch_packs(
        LogitGradients<T>{logits.data<T>(), logits.rows(), logits.cols(), labels.data(), row_top.data<C>(),
                          row_log_sum.data<C>(), dloss.data<C>(), dlogits.data<T>()},
        packs_in_rows(logits.size(), logits.cols(), {logits.memory, dlogits.memory}));
  });
}

void mse(const View& x, const View& target, const View& loss) {
  with_compute_type(x.dtype, [&]<class C> {
    reduce<C>(SquaredDifference<C>{values(x), values(target)}, x.size(),
              StoreShare<C>{values(loss), static_cast<C>(x.size())});
  });
}

void mse_backward(const View& x, const View& target, const View& dloss, const View& dx) {
  expect_one_format(x, dx);
  if (x.size() == 0) return;
  visit_dtype(x.dtype, [&]<class T> {
    launch_packs(DifferenceGradients<T>{x.data<T>(), target.data<ComputeType<T>>(),
                                        dloss.data<ComputeType<T>>(), dx.data<T>(), x.size()},
                 packs_of(x.size(), {x.memory, target.memory, dx.memory}));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
