#pragma once

#include <kernels/cuda/values.h>

/// A thread for each value that is written.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void take_rows(Values table, const std::int32_t* tokens, Values y, std::int64_t n,
                          std::int64_t columns) {
  for (std::int64_t i = first(); i < n; i += stride())
    y.set(i, table.get<C>(tokens[i / columns] * columns + i % columns));
}

template <class C>
__global__ void sum_rows_of_tokens(Values dy, const std::int32_t* begins, const std::int32_t* places,
                                   Values dtable, std::int64_t n, std::int64_t columns) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t v = i / columns, c = i % columns;
    C sum = 0;
    for (std::int64_t k = begins[v]; k < begins[v + 1]; ++k) sum += dy.get<C>(places[k] * columns + c);
    dtable.set(i, sum);
  }
}

}  // namespace

void embedding(const View& table, std::span<const std::int32_t> tokens, const View& y) {
  if (y.size() == 0) return;
  with_compute_type(table.dtype, [&]<class C> {
    launch<take_rows<C>>(blocks_for(y.size()), block_threads, 0, stream(), values(table), tokens.data(),
                         values(y), y.size(), table.cols());
  });
}

void embedding_backward(const View& dy, std::span<const std::int32_t> begins,
                        std::span<const std::int32_t> places, const View& dtable) {
  if (dtable.size() == 0) return;
  with_compute_type(dtable.dtype, [&]<class C> {
    launch<sum_rows_of_tokens<C>>(blocks_for(dtable.size()), block_threads, 0, stream(), values(dy),
                                  begins.data(), places.data(), values(dtable), dtable.size(), dtable.cols());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
