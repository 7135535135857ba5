#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/text_examples.h>
#include <tinymp/tensor/indices.h>
#include <tinymp/tensor/tensor.h>
#include <tinymp/tensor/texts.h>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Makes batches for a model: of FP32 images out of the bytes of a data set, or of texts.
namespace tinymp::data {

struct Batch {
  Tensor images;                     ///< (B, H W C), f32: (B, 784) or (B, 3072); empty when there are texts
  std::vector<std::int32_t> labels;  ///< (B), 0 .. 9; of texts one for each token that is asked for
  /// The labels of a batch that was gathered on a device; then `labels` is empty (train/resident_data.h).
  std::optional<Indices> there{};
  std::optional<Texts> texts{};

  /// The number of labels.
  std::int64_t size() const { return there ? there->size() : static_cast<std::int64_t>(labels.size()); }
};

/// Returns the batch with its images, or its texts, on a device. The loss moves the labels there.
Batch to(Batch batch, Device device);

enum class PixelScale : std::uint8_t {
  unit,  ///< pixel / 255: 0 .. 1
  raw,   ///< 0 .. 255 as they are: large inputs, large gradients
};

/// Mean and standard deviation of each channel, for pixels from 0 to 1.
struct ChannelStatistics {
  std::array<float, 3> mean{0, 0, 0}, deviation{1, 1, 1};
};

/// The usual four digits, from the 50,000 training images of CIFAR-10; tests/data computes them.
inline constexpr ChannelStatistics cifar10_statistics{.mean = {0.4914f, 0.4822f, 0.4465f},
                                                      .deviation = {0.2470f, 0.2435f, 0.2616f}};

struct LoaderOptions {
  PixelScale scale = PixelScale::unit;
  bool invert = false;     ///< 255 - pixel: dark ink on white paper
  bool transpose = false;  ///< rows become columns: a new task for a model that was trained on upright digits
  /// (pixel - mean) / deviation, channel by channel; needs PixelScale::unit.
  std::optional<ChannelStatistics> normalise{};
  /// Each epoch moves each image and mirrors half of them (draw_crop_and_flip). Loader alone does this;
  /// InOrder, for measuring, does not.
  bool crop_and_flip = false;
};

/// The FP32 value of each of the 256 levels, channel by channel: (C,256).
std::vector<float> pixel_levels(const LoaderOptions& options, std::int64_t channels);

// Makes more images out of a data set: each epoch moves every image by up to 4 pixels and mirrors half.
// He, Zhang, Ren and Sun 2015 (arXiv 1512.03385), section 4.2: pad by 4 pixels on each side, crop at random.
// --------------------------------------------------------------

inline constexpr std::int64_t crop_padding = 4;  ///< pixels

/// The place of the crop in the padded image, 0 .. 8 down and right, and whether the image is mirrored first.
struct CropAndFlip {
  std::int64_t row = 0, col = 0;
  bool mirrored = false;
};

/// Draws the crop of image `index` in an epoch whose generator is `of_epoch`. It depends on nothing else: not
/// on the batch, the order of the images or the threads.
inline CropAndFlip draw_crop_and_flip(const Rng& of_epoch, std::int64_t index) {
  Rng rng = of_epoch.split(static_cast<std::uint64_t>(index));
  CropAndFlip drawn;
  drawn.row = static_cast<std::int64_t>(rng.below(2 * crop_padding + 1));
  drawn.col = static_cast<std::int64_t>(rng.below(2 * crop_padding + 1));
  drawn.mirrored = rng.below(2) == 1;
  return drawn;
}

/// out = crop(pad(mirror(image))), all (H,W,C). The padding is 0: black, the background of grey images.
void crop_and_flip(std::span<const std::uint8_t> image, const ImageShape& shape, const CropAndFlip& drawn,
                   std::span<std::uint8_t> out);

/// These texts as a batch on the CPU, of `steps` tokens each.
Batch batch_of(const TextRows& rows, std::int64_t steps);

/// `count` texts from the `first` on, or those that are left, for measuring: the same in every run.
Batch texts_in_order(const TextExamples& texts, std::int64_t first, std::int64_t count);

/// Shuffled batches of one size without an end. Each epoch has a new order and shows an image at most once.
/// Images that fill no batch at the end of an epoch are left out (other epochs show them). The order of epoch
/// e depends on (seed, e) alone, crop and flip of image i on (seed, e, i) alone. Texts come in the same way.
///
///   Loader loader(split.train, 64, seed);
///   for (int step = 0; step < 1000; ++step) { const Batch batch = loader.next(); ... }
class Loader {
 public:
  /// Keeps a reference to `dataset`. Throws UsageError unless 1 <= batch_size <= dataset.count, and when the
  /// options contradict each other.
  Loader(const Dataset& dataset, std::int64_t batch_size, std::uint64_t seed, LoaderOptions options = {});
  Loader(Dataset&&, std::int64_t, std::uint64_t, LoaderOptions = {}) = delete;  // the reference would dangle
  /// Throws UsageError unless 1 <= batch_size <= texts.count().
  Loader(const TextExamples& texts, std::int64_t batch_size, std::uint64_t seed);

  Batch next();
  /// Part `index` of the batch that next() returns, of `parts` that are equally large; goes on with skip() alone. Throws
  /// Error when there is no such part, or they would not be equally large.
  Batch part(std::int64_t index, std::int64_t parts) const;
  std::int64_t epoch() const { return epoch_; }  ///< the epoch of the batch that next() returns, from 0
  std::int64_t batches_per_epoch() const { return std::ssize(order_) / batch_size_; }

  /// Where a loader stands. With data set, batch size, seed and options it tells every batch that follows.
  struct Position {
    std::int64_t epoch = 0;
    std::int64_t drawn = 0;  ///< batches taken of this epoch
    bool operator==(const Position&) const = default;
  };
  Position position() const { return {epoch_, drawn_}; }
  /// The images of this epoch in their order: batch i shows those from i B on.
  std::span<const std::int64_t> order() const { return order_; }
  /// The crop of an image in this epoch. Only a loader with the option crop_and_flip crops.
  CropAndFlip crop_of(std::int64_t image) const { return draw_crop_and_flip(of_epoch(), image); }
  /// `count` texts of this epoch in their order, from the `first` on. Of a loader of texts alone.
  TextRows texts(std::int64_t first, std::int64_t count) const;
  void skip();                           ///< goes on as next() does, and makes no batch
  void go_to(const Position& position);  ///< throws Error for a place that no epoch has

 private:
  Rng of_epoch() const;
  void shuffle();

  const Dataset* dataset_ = nullptr;
  std::optional<TextExamples> texts_{};  ///< one of the two
  std::int64_t batch_size_;
  std::uint64_t seed_;
  LoaderOptions options_{};
  std::vector<std::int64_t> order_;
  std::int64_t epoch_ = 0, drawn_ = 0;  // drawn_: batches taken of this epoch
};

/// Every image once, in the order of the file, for measuring. The last batch may be shorter.
///
///   for (const Batch& batch : InOrder(split.test, 512)) ...
class InOrder {
 public:
  /// Keeps a reference to `dataset`. Throws UsageError unless batch_size >= 1, as Loader does.
  InOrder(const Dataset& dataset, std::int64_t batch_size, LoaderOptions options = {});
  InOrder(Dataset&&, std::int64_t, LoaderOptions = {}) = delete;

  /// The number of batches.
  std::int64_t size() const { return (dataset_->count + batch_size_ - 1) / batch_size_; }
  Batch operator[](std::int64_t i) const;

  class Iterator {
   public:
    Iterator(const InOrder* batches, std::int64_t i) : batches_(batches), i_(i) {}
    Batch operator*() const { return (*batches_)[i_]; }
    Iterator& operator++() { return ++i_, *this; }
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }

   private:
    const InOrder* batches_;
    std::int64_t i_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  const Dataset* dataset_;
  std::int64_t batch_size_;
  LoaderOptions options_;
};

}  // namespace tinymp::data
