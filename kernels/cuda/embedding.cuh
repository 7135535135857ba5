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

/// The places of each token as a chain, in order: places[v] is the first place of token v, next[n] the next place of the
/// token at n; -1 ends a chain. Place n belongs to one thread.
__global__ void link_places(const std::int32_t* tokens, std::int32_t count, std::int32_t* places,
                            std::int32_t* next) {
  for (std::int64_t i = first(); i < count; i += stride()) {
    const auto n = static_cast<std::int32_t>(i);
    std::int32_t before = n - 1, behind = n + 1;
    while (before >= 0 && tokens[before] != tokens[n]) --before;
    while (behind < count && tokens[behind] != tokens[n]) ++behind;
    if (before < 0) places[tokens[n]] = n;
    next[n] = behind < count ? behind : -1;
  }
}

__global__ void begin_chains(std::int32_t* places, std::int64_t words) {
  for (std::int64_t v = first(); v < words; v += stride()) places[v] = -1;
}

template <class C>
__global__ void sum_rows_of_tokens(Values dy, const std::int32_t* places, const std::int32_t* next,
                                   Values dtable, std::int64_t n, std::int64_t columns) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t c = i % columns;
    C sum = 0;
    for (std::int32_t k = places[i / columns]; k >= 0; k = next[k]) sum += dy.get<C>(k * columns + c);
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

void embedding_backward(const View& dy, std::span<const std::int32_t> tokens, const View& dtable) {
  if (dtable.size() == 0) return;
  const std::int64_t words = dtable.rows(), count = static_cast<std::int64_t>(tokens.size());
  const Scratch<std::int32_t> places(words), next(count);
  launch<begin_chains>(blocks_for(words), block_threads, 0, stream(), places.data(), words);
  if (count > 0)
    launch<link_places>(blocks_for(count), block_threads, 0, stream(), tokens.data(),
                        static_cast<std::int32_t>(count), places.data(), next.data());
  with_compute_type(dtable.dtype, [&]<class C> {
    launch<sum_rows_of_tokens<C>>(blocks_for(dtable.size()), block_threads, 0, stream(), values(dy),
                                  places.data(), next.data(), values(dtable), dtable.size(), dtable.cols());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
