#pragma once

#include <kernels/cuda/rows.h>
#include <kernels/formulas/attention.h>

/// Sixteen threads go along a row of scores, over what it sees.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// factor x[i]
template <class C>
struct ScaledRow {
  Row<C> x;
  C factor;
  __device__ C operator[](std::int64_t i) const { return factor * x[i]; }
};

template <class C>
__global__ void shares_of_seen(Values scores, AttentionMask mask, C scale, std::int64_t rows,
                               std::int64_t columns, Values p) {
  for_rows(rows, [&](std::int64_t b) {
    const ScaledRow<C> row{{scores, b * columns}, scale};
    const std::int64_t seen = mask.seen_by(b, columns);
    const C top = seen > 0 ? BySixteen::largest<C>(row, seen) : C(0);
    const C sum = BySixteen::sum<C>(seen, {}, [&](std::int64_t c) { return exp(row[c] - top); });
    BySixteen::each(
        columns, [&](std::int64_t c) { p.set(b * columns + c, c < seen ? exp(row[c] - top) / sum : C(0)); });
  });
}

template <class C>
__global__ void gradients_of_seen(Values p, Values dp, AttentionMask mask, C scale, std::int64_t rows,
                                  std::int64_t columns, Values errors) {
  for_rows(rows, [&](std::int64_t b) {
    const Row<C> share{p, b * columns}, d{dp, b * columns};
    const std::int64_t seen = mask.seen_by(b, columns);
    const C mean = BySixteen::sum<C>(seen, {}, [&](std::int64_t c) { return d[c] * share[c]; });
    BySixteen::each(columns, [&](std::int64_t c) {
      errors.set(b * columns + c, c < seen ? scale * (share[c] * (d[c] - mean)) : C(0));
    });
  });
}

}  // namespace

void attention_softmax(const View& scores, const AttentionMask& mask, double scale, const View& p) {
  if (scores.size() == 0) return;
  with_compute_type(scores.dtype, [&]<class C> {
    launch<shares_of_seen<C>>(blocks_for_rows(scores.rows()), block_threads, 0, stream(), values(scores),
                              mask, static_cast<C>(scale), scores.rows(), scores.cols(), values(p));
  });
}

void attention_softmax_backward(const View& p, const View& dp, const AttentionMask& mask, double scale,
                                const View& errors) {
  if (p.size() == 0) return;
  with_compute_type(p.dtype, [&]<class C> {
    launch<gradients_of_seen<C>>(blocks_for_rows(p.rows()), block_threads, 0, stream(), values(p), values(dp),
                                 mask, static_cast<C>(scale), p.rows(), p.cols(), values(errors));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
