#include <kernels/formulas/row_chunks.h>
#include <tinymp/optim/shards.h>
#include <algorithm>

namespace tinymp {
namespace {

std::int64_t chunks_of(std::int64_t size) { return (size + kernels::lane_chunk - 1) / kernels::lane_chunk; }

}  // namespace

Shards::Shards(std::int64_t size, int count, int own) : own_(static_cast<std::size_t>(own)) {
  const auto begin = [&](int number) {
    return std::min(size, chunks_of(size) * number / count * kernels::lane_chunk);
  };
  for (int i = 0; i < count; ++i) ranges_.push_back({begin(i), begin(i + 1)});
}

// <exercise agree>
void agree(const Shards& shards, kernels::GradientCounts& found) {
  std::int64_t all[] = {found.values, found.nonfinite, found.zeros, found.subnormals};
  shards.sum(all);
  found = {all[0], all[1], all[2], all[3]};
}
// </exercise agree>

std::vector<Shards::Range> Shards::chunks() const {
  std::vector<Range> all;
  for (const Range& range : ranges_) all.push_back({chunks_of(range.begin), chunks_of(range.end)});
  return all;
}

}  // namespace tinymp
