#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/data/loader.h>
#include <array>
#include <map>
#include <set>

using namespace tinymp;
using data::CropAndFlip;
using data::Dataset;
using data::ImageShape;
using data::InOrder;
using data::Loader;
using files::Bytes;

namespace {

constexpr ImageShape shape{.rows = 6, .cols = 5, .channels = 3};
constexpr data::LoaderOptions augmented{.scale = data::PixelScale::raw, .crop_and_flip = true};

/// As the paper says it, step by step: mirror, pad by 4 on each side, cut out.
Bytes by_hand(const Bytes& image, const CropAndFlip& drawn) {
  constexpr std::size_t rows = 6, cols = 5, channels = 3;
  Bytes padded((rows + 8) * (cols + 8) * channels), out;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c)
      for (std::size_t k = 0; k < channels; ++k)
        padded[((r + 4) * (cols + 8) + (drawn.mirrored ? cols - 1 - c : c) + 4) * channels + k] =
            image[(r * cols + c) * channels + k];
  const auto down = static_cast<std::size_t>(drawn.row), right = static_cast<std::size_t>(drawn.col);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c)
      for (std::size_t k = 0; k < channels; ++k)
        out.push_back(padded[((r + down) * (cols + 8) + c + right) * channels + k]);
  return out;
}

/// Images that differ, each with its number as its label.
Dataset filled(std::int64_t count) {
  Dataset set{"filled", count, {}, {}, shape};
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t p = 0; p < 90; ++p)
      set.images.push_back(static_cast<std::uint8_t>((p * 7 + i * 11) % 251));
    set.labels.push_back(static_cast<std::uint8_t>(i));
  }
  return set;
}

/// Every image of the next epoch, by its label.
std::map<std::int32_t, std::vector<float>> epoch_of(Loader& loader) {
  std::map<std::int32_t, std::vector<float>> images;
  for (std::int64_t i = 0; i < loader.batches_per_epoch(); ++i) {
    const data::Batch batch = loader.next();
    const std::vector<float> values = batch.images.to_floats();
    for (std::size_t b = 0; b < batch.labels.size(); ++b)
      images[batch.labels[b]].assign(values.begin() + static_cast<std::ptrdiff_t>(b * 90),
                                     values.begin() + static_cast<std::ptrdiff_t>(b * 90 + 90));
  }
  return images;
}

}  // namespace

TEST_CASE("crop_and_flip: each of the 162 outcomes is the paper's") {
  const Bytes image = files::counting(90, 97);
  Bytes out(90);
  for (std::int64_t row = 0; row <= 8; ++row)
    for (std::int64_t col = 0; col <= 8; ++col)
      for (const bool mirrored : {false, true}) {
        std::fill(out.begin(), out.end(), std::uint8_t{255});
        data::crop_and_flip(image, shape, {row, col, mirrored}, out);
        REQUIRE(out == by_hand(image, {row, col, mirrored}));
      }
  data::crop_and_flip(image, shape, {4, 4, false}, out);
  CHECK(out == image);
}

TEST_CASE("crop_and_flip: all outcomes are drawn, each as often as the others") {
  const Rng of_epoch(5);
  std::map<std::array<std::int64_t, 3>, int> count;
  constexpr int draws = 162'000;
  for (int i = 0; i < draws; ++i) {
    const CropAndFlip drawn = data::draw_crop_and_flip(of_epoch, i);
    ++count[{drawn.row, drawn.col, drawn.mirrored}];
  }
  CHECK(count.size() == 162);
  double chi_square = 0;  // 161 degrees of freedom: mean 161, deviation 18
  for (const auto& [outcome, times] : count) chi_square += (times - 1000.0) * (times - 1000.0) / 1000;
  CHECK(chi_square > 161 - 5 * 18);
  CHECK(chi_square < 161 + 5 * 18);
}

TEST_CASE("Loader: crop and flip depend on seed, epoch and image alone") {
  const Dataset set = filled(24);
  Loader small(set, 4, 7, augmented), large(set, 12, 7, augmented), other(set, 4, 8, augmented);
  std::set<std::vector<float>> seen;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto images = epoch_of(small), same = epoch_of(large);
    CHECK(images == same);
    CHECK(images != epoch_of(other));
    for (const auto& [label, pixels] : images) {
      const auto shown = set.image(label);
      const CropAndFlip drawn =
          data::draw_crop_and_flip(Rng(7).split(static_cast<std::uint64_t>(epoch)), label);
      const Bytes expected = by_hand(Bytes(shown.begin(), shown.end()), drawn);
      CHECK(pixels == std::vector<float>(expected.begin(), expected.end()));
      seen.insert(pixels);
    }
  }
  CHECK(seen.size() > 65);  // of 72: an image seldom comes twice in the same way

  // Frozen: a change here changes every recorded run that used it.
  const CropAndFlip frozen = data::draw_crop_and_flip(Rng(1).split(0), 0);
  CHECK(std::array<std::int64_t, 3>{frozen.row, frozen.col, frozen.mirrored} ==
        std::array<std::int64_t, 3>{7, 8, 1});
}

TEST_CASE("Loader: crop and flip are off unless asked, and never while measuring") {
  const Dataset set = filled(24);
  constexpr data::LoaderOptions plain{.scale = data::PixelScale::raw};
  Loader asked(set, 24, 7, augmented), not_asked(set, 24, 7, plain);
  const data::Batch moved = asked.next(), still = not_asked.next();
  CHECK(moved.labels == still.labels);  // the order of the images is not touched by it
  for (std::size_t b = 0; b < 24; ++b) {
    const auto image = set.image(still.labels[b]);
    const std::vector<float> values = still.images.to_floats();
    CHECK(std::equal(image.begin(), image.end(), values.begin() + static_cast<std::ptrdiff_t>(b * 90),
                     [](std::uint8_t byte, float value) { return static_cast<float>(byte) == value; }));
  }
  CHECK(InOrder(set, 24, augmented)[0].images.to_floats() == InOrder(set, 24, plain)[0].images.to_floats());
}

TEST_CASE("Loader: the padding is black before pixels are inverted, transposed and normalised") {
  Dataset white{"white", 1, Bytes(90, 255), {0}, shape};
  data::LoaderOptions options{.invert = true, .transpose = true, .crop_and_flip = true};
  options.normalise = data::ChannelStatistics{.mean = {0.5f, 0.5f, 0.5f}, .deviation = {0.25f, 0.25f, 0.25f}};
  Loader loader(white, 1, 3, options);
  for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
    const CropAndFlip drawn = data::draw_crop_and_flip(Rng(3).split(static_cast<std::uint64_t>(epoch)), 0);
    const std::vector<float> values = loader.next().images.to_floats();  // (W,H,C)
    const Bytes bytes = by_hand(Bytes(90, 255), drawn);                  // (H,W,C)
    for (std::size_t r = 0; r < 6; ++r)
      for (std::size_t c = 0; c < 5; ++c)
        for (std::size_t k = 0; k < 3; ++k)
          REQUIRE(values[(c * 6 + r) * 3 + k] == (bytes[(r * 5 + c) * 3 + k] == 255 ? -2.0f : 2.0f));
  }
}
