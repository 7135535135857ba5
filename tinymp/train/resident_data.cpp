#include <tinymp/train/resident_data.h>
#include <algorithm>
#include <vector>

namespace tinymp::train {
namespace {

using kernels::ShownImage;

template <class T>
void copy(const std::vector<T>& from, const Storage& to) {
  allocator(to.device()).copy_in(to.data(), from.data(), from.size() * sizeof(T));
}

std::vector<ShownImage> order_of(const data::Loader& loader, bool crops) {
  std::vector<ShownImage> order;
  order.reserve(loader.order().size());
  for (const std::int64_t image : loader.order()) {
    ShownImage shown{.image = static_cast<std::int32_t>(image)};
    if (crops) {
      const data::CropAndFlip crop = loader.crop_of(image);
      shown.down = static_cast<std::int8_t>(data::crop_padding - crop.row);
      shown.right = static_cast<std::int8_t>(data::crop_padding - crop.col);
      shown.mirrored = crop.mirrored;
    }
    order.push_back(shown);
  }
  return order;
}

}  // namespace

ResidentData::ResidentData(const data::Dataset& dataset, const data::LoaderOptions& options,
                           std::int64_t batch, std::int64_t micro_batches, DType format, Device device)
    : images_(dataset.images.size(), device),
      labels_(dataset.labels.size(), device),
      levels_(static_cast<std::size_t>(dataset.shape.channels) * 256 * sizeof(float), device),
      order_(static_cast<std::size_t>(dataset.count) * sizeof(ShownImage), device),
      before_(device),
      shape_(dataset.shape),
      options_(options),
      batch_(batch),
      micro_batches_(micro_batches),
      format_(format),
      largest_label_(*std::ranges::max_element(dataset.labels)) {
  copy(dataset.images, images_);
  copy(dataset.labels, labels_);
  copy(data::pixel_levels(options, shape_.channels), levels_);
}

void ResidentData::follow(const data::Loader& loader, std::int64_t steps) {
  const data::Loader::Position now = loader.position();
  if (epoch_ != now.epoch) copy(order_of(loader, options_.crop_and_flip), order_);
  epoch_ = now.epoch;
  const std::int64_t first = steps - now.drawn;
  if (first_ != first) before_.write(first);
  first_ = first;
}

data::Batch ResidentData::next(const StepRecords& records, std::int64_t micro_batch) const {
  const Device device = images_.device();
  data::Batch batch{
      Tensor({batch_, shape_.size()}, format_, device), {}, Indices(batch_, 0, largest_label_, device)};
  const kernels::ImageSource source{
      .images = {.memory = reinterpret_cast<const std::uint8_t*>(images_.data()),
                 .levels = reinterpret_cast<const float*>(levels_.data()),
                 .rows = shape_.rows,
                 .columns = shape_.cols,
                 .channels = shape_.channels,
                 .transposed = options_.transpose},
      .labels = reinterpret_cast<const std::uint8_t*>(labels_.data()),
      .order = reinterpret_cast<const ShownImage*>(order_.data()),
      .place = {before_.cell().memory, micro_batches_, micro_batch},
      .device = device};
  kernels::gather_batch(source, records.cell(), batch.images.view(), batch.there->written());
  return batch;
}

}  // namespace tinymp::train
