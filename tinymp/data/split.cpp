#include <tinymp/base/rng.h>
#include <tinymp/data/split.h>
#include <algorithm>
#include <numeric>
#include <utility>

namespace tinymp::data {

Dataset pick(const Dataset& from, std::span<const std::int64_t> indices) {
  Dataset picked{from.name, static_cast<std::int64_t>(indices.size()), {}, {}, from.shape};
  picked.images.reserve(indices.size() * static_cast<std::size_t>(from.shape.size()));
  picked.labels.reserve(indices.size());
  for (const std::int64_t i : indices) {
    const std::span<const std::uint8_t> image = from.image(i);
    picked.images.insert(picked.images.end(), image.begin(), image.end());
    picked.labels.push_back(from.labels[static_cast<std::size_t>(i)]);
  }
  return picked;
}

Split split_off_validation(const Dataset& all, Dataset test, std::int64_t least) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(all.count));
  std::iota(order.begin(), order.end(), 0);
  constexpr std::uint64_t split_seed = 0;  // the same for all runs: the split belongs to the data
  Rng(split_seed).shuffle(std::span(order));
  const std::span<std::int64_t> drawn(order);
  const auto validation = static_cast<std::size_t>(
      std::min(std::max(least, std::min<std::int64_t>(all.count / 10, 5000)), all.count));
  std::ranges::sort(drawn.first(validation));
  std::ranges::sort(drawn.subspan(validation));
  return {pick(all, drawn.subspan(validation)), pick(all, drawn.first(validation)), std::move(test)};
}

}  // namespace tinymp::data
