#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/loader.h>
#include <algorithm>
#include <numeric>
#include <utility>

namespace tinymp::data {
namespace {

void check_options(const Dataset& dataset, const LoaderOptions& options) {
  if (!options.normalise) return;
  if (options.scale != PixelScale::unit)
    throw UsageError("mean and deviation are of pixels from 0 to 1; leave the scale of the pixels at unit");
  const auto known = static_cast<std::int64_t>(options.normalise->mean.size());
  if (dataset.shape.channels > known)
    throw UsageError(concat("there are mean and deviation of ", known, " channels; the images of ",
                            dataset.name, " have ", dataset.shape.channels));
}

/// Makes a batch. `of_epoch` draws crop and flip; null: the images stay as they are.
Batch gather(const Dataset& dataset, std::span<const std::int64_t> indices, const LoaderOptions& options,
             const Rng* of_epoch) {
  const ImageShape& shape = dataset.shape;
  const std::vector<float> value = pixel_levels(options, shape.channels);
  Batch batch{Tensor({static_cast<std::int64_t>(indices.size()), shape.size()}), {}};
  batch.labels.reserve(indices.size());
  float* out = batch.images.data<float>();
  // Shape of the output, (H,W,C) or transposed, and its strides in the input bytes.
  std::int64_t rows = shape.rows, cols = shape.cols;
  std::int64_t to_row = shape.cols * shape.channels, to_pixel = shape.channels;
  if (options.transpose) {
    std::swap(rows, cols);
    std::swap(to_row, to_pixel);
  }
  std::vector<std::uint8_t> moved(of_epoch != nullptr ? static_cast<std::size_t>(shape.size()) : 0);
  for (const std::int64_t i : indices) {
    const std::uint8_t* image = dataset.image(i).data();
    if (of_epoch != nullptr) {
      crop_and_flip(dataset.image(i), shape, draw_crop_and_flip(*of_epoch, i), moved);
      image = moved.data();
    }
    for (std::int64_t row = 0; row < rows; ++row, out += cols * shape.channels) {
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        const float* of_channel = value.data() + c * 256;
        const std::uint8_t* in = image + row * to_row + c;
        float* to = out + c;
        for (std::int64_t col = 0; col < cols; ++col)
          to[col * shape.channels] = of_channel[in[col * to_pixel]];
      }
    }
    batch.labels.push_back(dataset.labels[static_cast<std::size_t>(i)]);
  }
  return batch;
}

}  // namespace

std::vector<float> pixel_levels(const LoaderOptions& options, std::int64_t channels) {
  std::vector<float> values(static_cast<std::size_t>(channels) * 256);
  for (std::size_t c = 0; c < values.size() / 256; ++c) {
    for (std::size_t i = 0; i < 256; ++i) {
      const auto level = static_cast<float>(options.invert ? 255 - i : i);
      float& value = values[c * 256 + i];
      value = options.scale == PixelScale::unit ? level / 255.0f : level;
      if (options.normalise) value = (value - options.normalise->mean[c]) / options.normalise->deviation[c];
    }
  }
  return values;
}

Batch to(Batch batch, Device device) {
  if (!batch.texts) {
    batch.images = batch.images.to(device);
  } else if (batch.texts->tokens.device() != device) {
    Texts& texts = *batch.texts;
    const auto moved = [device](const Indices& numbers) { return Indices(numbers.view(), device); };
    texts.tokens = moved(texts.tokens);
    if (texts.asked) texts.asked = moved(*texts.asked);
    if (texts.lengths) texts.lengths = moved(*texts.lengths);
  }
  return batch;
}

Batch batch_of(const TextRows& rows, std::int64_t steps) {
  Batch batch{Tensor(), rows.labels};
  batch.texts = Texts{.tokens = Indices(rows.tokens, Device::cpu), .steps = steps};
  if (!rows.asked.empty()) batch.texts->asked = Indices(rows.asked, Device::cpu);
  return batch;
}

Batch texts_in_order(const TextExamples& texts, std::int64_t first, std::int64_t count) {
  TextRows rows;
  for (std::int64_t i = first; i < std::min(first + count, texts.count()); ++i) texts.add(i, Rng(0), rows);
  return batch_of(rows, texts.steps());
}

Loader::Loader(const Dataset& dataset, std::int64_t batch_size, std::uint64_t seed, LoaderOptions options)
    : dataset_(&dataset), batch_size_(batch_size), seed_(seed), options_(options) {
  if (batch_size < 1 || batch_size > dataset.count)
    throw UsageError(concat("a batch of ", batch_size, " images cannot be drawn from the ", dataset.count,
                            " of ", dataset.name, "; choose a batch size from 1 to ", dataset.count));
  check_options(dataset, options);
  order_.resize(static_cast<std::size_t>(dataset.count));
  shuffle();
}

Loader::Loader(const TextExamples& texts, std::int64_t batch_size, std::uint64_t seed)
    : texts_(texts), batch_size_(batch_size), seed_(seed) {
  if (batch_size < 1 || batch_size > texts.count())
    throw UsageError(concat("a batch of ", batch_size, " texts cannot be drawn from ", texts.count(),
                            "; choose a batch size from 1 to ", texts.count(), ", or a shorter context"));
  order_.resize(static_cast<std::size_t>(texts.count()));
  shuffle();
}

TextRows Loader::texts(std::int64_t first, std::int64_t count) const {
  expect(texts_.has_value(), "Loader::texts: this loader has images");
  const Rng epoch = of_epoch();
  TextRows rows;
  for (std::int64_t i = first; i < first + count; ++i)
    texts_->add(order_[static_cast<std::size_t>(i)], epoch, rows);
  return rows;
}

Rng Loader::of_epoch() const { return Rng(seed_).split(static_cast<std::uint64_t>(epoch_)); }

void Loader::shuffle() {
  std::iota(order_.begin(), order_.end(), 0);
  of_epoch().shuffle(std::span(order_));
}

Batch Loader::next() {
  Batch batch = part(0, 1);
  skip();
  return batch;
}

Batch Loader::part(std::int64_t index, std::int64_t parts) const {
  expect(parts >= 1 && index >= 0 && index < parts && batch_size_ % parts == 0, "Loader::part: part ", index,
         " of ", parts, " equal ones of a batch of ", batch_size_);
  const std::int64_t count = batch_size_ / parts, first = drawn_ * batch_size_ + index * count;
  if (texts_) return batch_of(texts(first, count), texts_->steps());
  const std::span<const std::int64_t> indices =
      std::span(order_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  const Rng epoch = of_epoch();
  return gather(*dataset_, indices, options_, options_.crop_and_flip ? &epoch : nullptr);
}

void Loader::skip() {
  if (++drawn_ < batches_per_epoch()) return;
  drawn_ = 0;
  ++epoch_;
  shuffle();
}

void Loader::go_to(const Position& position) {
  expect(position.epoch >= 0 && position.drawn >= 0 && position.drawn < batches_per_epoch(),
         "Loader: there is no batch ", position.drawn, " in epoch ", position.epoch, "; an epoch has ",
         batches_per_epoch());
  epoch_ = position.epoch;
  drawn_ = position.drawn;
  shuffle();
}

InOrder::InOrder(const Dataset& dataset, std::int64_t batch_size, LoaderOptions options)
    : dataset_(&dataset), batch_size_(batch_size), options_(options) {
  if (batch_size < 1)
    throw UsageError(concat("a batch cannot hold ", batch_size, " images; choose 1 or more"));
  check_options(dataset, options);
}

Batch InOrder::operator[](std::int64_t i) const {
  expect(i >= 0 && i < size(), "there is no batch ", i, ": ", dataset_->name, " makes ", size(), " of ",
         batch_size_);
  const std::int64_t first = i * batch_size_;
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(batch_size_, dataset_->count - first)));
  std::iota(indices.begin(), indices.end(), first);
  return gather(*dataset_, indices, options_, nullptr);
}

void crop_and_flip(std::span<const std::uint8_t> image, const ImageShape& shape, const CropAndFlip& drawn,
                   std::span<std::uint8_t> out) {
  std::uint8_t* to = out.data();
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const std::int64_t row = r + drawn.row - crop_padding;
    for (std::int64_t c = 0; c < shape.cols; ++c, to += shape.channels) {
      const std::int64_t shown = c + drawn.col - crop_padding;
      const std::int64_t col = drawn.mirrored ? shape.cols - 1 - shown : shown;
      if (row < 0 || row >= shape.rows || col < 0 || col >= shape.cols)
        std::fill_n(to, shape.channels, std::uint8_t{0});
      else
        std::copy_n(image.data() + (row * shape.cols + col) * shape.channels, shape.channels, to);
    }
  }
}

}  // namespace tinymp::data
