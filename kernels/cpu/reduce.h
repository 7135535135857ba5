#pragma once

#include <kernels/cpu/block.h>
#include <array>
#include <vector>

/// Sums that do not depend on how many threads take part: each fixed chunk is summed in 16 lanes and folded
/// by a fixed tree; the chunks' sums are added in order.
namespace tinymp::kernels::cpu {

template <class C>
class LaneSum {
 public:
  /// `i` is the value's place in its chunk; it chooses the lane.
  void add(std::int64_t i, C value) { lanes_[static_cast<std::size_t>(i % 16)] += value; }

  C total() const {
    std::array<C, 16> fold = lanes_;
    for (std::size_t width = 8; width > 0; width /= 2) {
      for (std::size_t i = 0; i < width; ++i) fold[i] += fold[i + width];
    }
    return fold[0];
  }

 private:
  std::array<C, 16> lanes_{};
};

/// The sum of chunk(begin, n) over chunks of block_size values, added in order.
template <class Sum, class Chunk>
Sum sum_of_chunks(std::int64_t size, Chunk&& chunk) {
  const std::int64_t chunks = (size + block_size - 1) / block_size;
  std::vector<Sum> partial(static_cast<std::size_t>(chunks));
  parallel_for(chunks, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t c = first; c < last; ++c) {
      partial[static_cast<std::size_t>(c)] =
          chunk(c * block_size, std::min(block_size, size - c * block_size));
    }
  });
  Sum total{};
  for (const Sum& part : partial) total += part;
  return total;
}

}  // namespace tinymp::kernels::cpu
