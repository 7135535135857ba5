#include <lessons/lab/clinic/micro_batches.h>
#include <tinymp/base/error.h>
#include <numeric>

namespace tinymp::clinic {

std::vector<MicroBatch> parts_of(const data::Batch& batch, const Program& program) {
  const std::vector<std::int64_t>& sizes = program.micro_batches;
  if (sizes.empty()) return {{batch, 1}};
  expect(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == batch.size(),
         "a config has micro-batches that do not add up to its batch of ", batch.size());
  std::vector<MicroBatch> parts;
  const std::int64_t pixels = batch.images.shape()[1];
  auto label = batch.labels.begin();
  for (const std::int64_t size : sizes) {
    data::Batch part;
    part.images = batch.images.slice((label - batch.labels.begin()) * pixels, {size, pixels});
    part.labels.assign(label, label + size);
    label += size;
    parts.push_back({std::move(part), program.mean_of_means
                                          ? 1 / static_cast<float>(sizes.size())
                                          : static_cast<float>(size) / static_cast<float>(batch.size())});
  }
  return parts;
}

}  // namespace tinymp::clinic
