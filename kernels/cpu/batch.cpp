#include <kernels/cpu/block.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {

void gather_batch(const ImageSource& from, Cell<const StepRecords> records, const View& images,
                  std::span<std::int32_t> labels) {
  const auto batch = static_cast<std::int64_t>(labels.size()), size = from.images.size();
  const ShownImage* shown = from.order + from.place.batch_after(records.memory->steps) * batch;
  visit_dtype(images.dtype, [&]<class T> {
    parallel_for(batch, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, size)),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t b = first; b < last; ++b) {
                     labels[static_cast<std::size_t>(b)] = from.labels[shown[b].image];
                     for (std::int64_t i = 0; i < size; ++i)
                       images.data<T>()[b * size + i] = converted<T>(from.images.value(shown[b], i));
                   }
                 });
  });
}

void gather_texts(const TextSource& from, Cell<const StepRecords> records, std::span<std::int32_t> tokens,
                  std::span<std::int32_t> asked, std::span<std::int32_t> labels) {
  const std::int64_t batch = from.place.batch_after(records.memory->steps);
  const auto take = [batch](const std::int32_t* all, std::span<std::int32_t> part) {
    std::copy_n(all + batch * std::ssize(part), part.size(), part.data());
  };
  take(from.tokens, tokens);
  if (!asked.empty()) take(from.asked, asked);
  take(from.labels, labels);
}

}  // namespace tinymp::kernels::cpu
