#pragma once

#include <kernels/cuda/values.h>

/// A thread for each value: neighbours read neighbouring bytes, unless images are mirrored or transposed.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class T>
__global__ void take_images(ImageSource from, const StepRecords* records, std::int64_t batch, T* images,
                            std::int32_t* labels) {
  const ShownImage* const shown = from.order + from.place.batch_after(records->steps) * batch;
  const std::int64_t size = from.images.size();
  for (std::int64_t i = first(); i < batch * size; i += stride())
    images[i] = device_converted<T>(from.images.value(shown[i / size], i % size));
  for (std::int64_t b = first(); b < batch; b += stride()) labels[b] = from.labels[shown[b].image];
}

/// The numbers of a batch out of those of an epoch.
struct PartOfEpoch {
  const std::int32_t* all;
  std::int32_t* part;
  std::int64_t count;

  __device__ void take(std::int64_t batch) const {
    for (std::int64_t i = first(); i < count; i += stride()) part[i] = all[batch * count + i];
  }
};

__global__ void take_texts(PartOfEpoch tokens, PartOfEpoch asked, PartOfEpoch labels,
                           const StepRecords* records, PlaceInEpoch place) {
  const std::int64_t batch = place.batch_after(records->steps);
  tokens.take(batch);
  asked.take(batch);
  labels.take(batch);
}

}  // namespace

void gather_texts(const TextSource& from, Cell<const StepRecords> records, std::span<std::int32_t> tokens,
                  std::span<std::int32_t> asked, std::span<std::int32_t> labels) {
  if (tokens.empty()) return;
  const auto part = [](const std::int32_t* all, std::span<std::int32_t> to) {
    return PartOfEpoch{all, to.data(), std::ssize(to)};
  };
  launch<take_texts>(blocks_for(std::ssize(tokens)), block_threads, 0, stream(), part(from.tokens, tokens),
                     part(from.asked, asked), part(from.labels, labels), records.memory, from.place);
}

void gather_batch(const ImageSource& from, Cell<const StepRecords> records, const View& images,
                  std::span<std::int32_t> labels) {
  const auto batch = static_cast<std::int64_t>(labels.size());
  if (batch == 0) return;
  visit_dtype(images.dtype, [&]<class T> {
    launch<take_images<T>>(std::max(1u, blocks_for(images.size())), block_threads, 0, stream(), from,
                           records.memory, batch, images.data<T>(), labels.data());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
