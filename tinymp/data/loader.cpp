#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/loader.h>
#include <algorithm>
#include <array>
#include <numeric>

namespace tinymp::data {
namespace {

/// The FP32 value of each of the 256 grey levels.
std::array<float, 256> levels(const LoaderOptions& options) {
  std::array<float, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto level = static_cast<float>(options.invert ? 255 - i : i);
    values[i] = options.scale == PixelScale::unit ? level / 255.0f : level;
  }
  return values;
}

Batch gather(const Dataset& dataset, std::span<const std::int64_t> indices, const LoaderOptions& options) {
  const std::array<float, 256> value = levels(options);
  Batch batch{Tensor({static_cast<std::int64_t>(indices.size()), image_pixels}), {}};
  batch.labels.reserve(indices.size());
  float* out = batch.images.data<float>();
  for (const std::int64_t i : indices) {
    const std::uint8_t* image = dataset.image(i).data();
    for (std::int64_t row = 0; row < image_rows; ++row)
      for (std::int64_t col = 0; col < image_cols; ++col)
        *out++ = value[options.transpose ? image[col * image_cols + row] : image[row * image_cols + col]];
    batch.labels.push_back(dataset.labels[static_cast<std::size_t>(i)]);
  }
  return batch;
}

}  // namespace

Loader::Loader(const Dataset& dataset, std::int64_t batch_size, std::uint64_t seed, LoaderOptions options)
    : dataset_(&dataset), batch_size_(batch_size), seed_(seed), options_(options) {
  if (batch_size < 1 || batch_size > dataset.count)
    throw UsageError(concat("a batch of ", batch_size, " images cannot be drawn from the ", dataset.count,
                            " of ", dataset.name, "; choose a batch size from 1 to ", dataset.count));
  order_.resize(static_cast<std::size_t>(dataset.count));
  shuffle();
}

void Loader::shuffle() {
  std::iota(order_.begin(), order_.end(), 0);
  Rng(seed_).split(static_cast<std::uint64_t>(epoch_)).shuffle(std::span(order_));
}

Batch Loader::next() {
  const auto first = static_cast<std::size_t>(drawn_ * batch_size_);
  const std::span<const std::int64_t> indices =
      std::span(order_).subspan(first, static_cast<std::size_t>(batch_size_));
  Batch batch = gather(*dataset_, indices, options_);
  if (++drawn_ == batches_per_epoch()) {
    drawn_ = 0;
    ++epoch_;
    shuffle();
  }
  return batch;
}

InOrder::InOrder(const Dataset& dataset, std::int64_t batch_size, LoaderOptions options)
    : dataset_(&dataset), batch_size_(batch_size), options_(options) {
  if (batch_size < 1)
    throw UsageError(concat("a batch cannot hold ", batch_size, " images; choose 1 or more"));
}

Batch InOrder::operator[](std::int64_t i) const {
  expect(i >= 0 && i < size(), "there is no batch ", i, ": ", dataset_->name, " makes ", size(), " of ",
         batch_size_);
  const std::int64_t first = i * batch_size_;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(batch_size_, dataset_->count - first)));
  std::iota(indices.begin(), indices.end(), first);
  return gather(*dataset_, indices, options_);
}

}  // namespace tinymp::data
