#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/data/loader.h>
#include <algorithm>
#include <set>

using namespace tinymp;
using data::Batch;
using data::Dataset;
using data::InOrder;
using data::Loader;
using data::PixelScale;

namespace {

/// Image i carries its number in its first two pixels; the others differ from pixel to pixel.
Dataset numbered(std::int64_t count) {
  Dataset set{"numbered", count, files::counting(static_cast<std::size_t>(count) * 784), {}};
  for (std::int64_t i = 0; i < count; ++i) {
    set.images[static_cast<std::size_t>(i * 784)] = static_cast<std::uint8_t>(i / 256);
    set.images[static_cast<std::size_t>(i * 784 + 1)] = static_cast<std::uint8_t>(i % 256);
    set.labels.push_back(static_cast<std::uint8_t>(i * 7 % 10));
  }
  return set;
}

/// The numbers of the images in a batch of raw pixels; checks that each has the label that belongs to it.
std::vector<int> numbers(const Batch& batch) {
  std::vector<int> all;
  const std::vector<float> pixels = batch.images.to_floats();
  for (std::size_t b = 0; b < batch.labels.size(); ++b) {
    all.push_back(static_cast<int>(pixels[b * 784]) * 256 + static_cast<int>(pixels[b * 784 + 1]));
    REQUIRE(batch.labels[b] == all.back() * 7 % 10);
  }
  return all;
}

std::vector<int> drawn(Loader& loader, std::int64_t batches) {
  std::vector<int> all;
  for (std::int64_t i = 0; i < batches; ++i)
    for (const int number : numbers(loader.next())) all.push_back(number);
  return all;
}

constexpr data::LoaderOptions raw{.scale = PixelScale::raw};

}  // namespace

TEST_CASE("Loader: what a batch holds") {
  const Dataset set = numbered(100);
  const Batch batch = Loader(set, 16, 1).next();
  CHECK(batch.size() == 16);
  CHECK(batch.images.shape() == Shape{16, 784});
  CHECK(batch.images.dtype() == DType::f32);

  // Pixels: the correctly rounded p / 255. Double division rounded once more is the same for all 256 levels.
  Dataset greys{"greys", 1, files::Bytes(784), {3}};
  for (std::size_t p = 0; p < 256; ++p) greys.images[p] = static_cast<std::uint8_t>(p);
  const std::vector<float> unit = Loader(greys, 1, 0).next().images.to_floats();
  const std::vector<float> whole = Loader(greys, 1, 0, raw).next().images.to_floats();
  for (std::size_t p = 0; p < 256; ++p) {
    CHECK(unit[p] == static_cast<float>(static_cast<double>(p) / 255.0));
    CHECK(whole[p] == static_cast<float>(p));
  }
  CHECK(unit[255] == 1.0f);
}

TEST_CASE("Loader: inverted images are dark ink on white paper") {
  const Dataset set = numbered(3);
  const std::vector<float> black = InOrder(set, 3, raw)[0].images.to_floats();
  const std::vector<float> paper =
      InOrder(set, 3, {.scale = PixelScale::raw, .invert = true})[0].images.to_floats();
  const std::vector<float> unit = InOrder(set, 3, {.invert = true})[0].images.to_floats();
  REQUIRE(paper.size() == black.size());
  for (std::size_t i = 0; i < black.size(); ++i) {
    CHECK(paper[i] == 255 - black[i]);
    CHECK(unit[i] == paper[i] / 255.0f);
  }
}

TEST_CASE("Loader: transposed images") {
  const Dataset set = numbered(3);
  const std::vector<float> upright = InOrder(set, 3, raw)[0].images.to_floats();
  const std::vector<float> lying =
      InOrder(set, 3, {.scale = PixelScale::raw, .transpose = true})[0].images.to_floats();
  bool differs = false;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t r = 0; r < 28; ++r)
      for (std::size_t c = 0; c < 28; ++c) {
        REQUIRE(lying[i * 784 + c * 28 + r] == upright[i * 784 + r * 28 + c]);
        differs = differs || lying[i * 784 + r * 28 + c] != upright[i * 784 + r * 28 + c];
      }
  CHECK(differs);
}

TEST_CASE("Loader: images of any shape, transposed and normalised channel by channel") {
  // 2 x 3 x 2, so that rows, columns and channels cannot be taken for one another
  const Dataset set{"odd", 2, files::counting(24), {1, 2}, {.rows = 2, .cols = 3, .channels = 2}};
  const auto values = [&](const data::LoaderOptions& options) {
    return InOrder(set, 2, options)[0].images.to_floats();
  };
  const std::vector<float> plain = values(raw);
  CHECK(InOrder(set, 2)[0].images.shape() == Shape{2, 12});
  for (std::size_t i = 0; i < 24; ++i) CHECK(plain[i] == static_cast<float>(i));
  const std::vector<float> lying = values({.scale = PixelScale::raw, .transpose = true});
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t row = 0; row < 2; ++row)
      for (std::size_t col = 0; col < 3; ++col)
        for (std::size_t c = 0; c < 2; ++c)
          CHECK(lying[i * 12 + (col * 2 + row) * 2 + c] == plain[i * 12 + (row * 3 + col) * 2 + c]);

  const data::ChannelStatistics statistics{.mean = {0.25f, 0.5f, 9}, .deviation = {2, 0.5f, 9}};
  const std::vector<float> normal = values({.normalise = statistics});
  const std::vector<float> paper = values({.invert = true, .normalise = statistics});
  for (std::size_t i = 0; i < 24; ++i) {
    const float p = static_cast<float>(i) / 255.0f, q = static_cast<float>(255 - i) / 255.0f;
    CHECK(normal[i] == (i % 2 == 0 ? (p - 0.25f) / 2 : (p - 0.5f) / 0.5f));
    CHECK(paper[i] == (i % 2 == 0 ? (q - 0.25f) / 2 : (q - 0.5f) / 0.5f));
  }
  CHECK(Loader(set, 2, 0, {.normalise = statistics}).next().images.shape() == Shape{2, 12});
}

TEST_CASE("Loader and InOrder: statistics that do not fit") {
  const Dataset set{"deep", 1, files::counting(4), {1}, {.rows = 1, .cols = 1, .channels = 4}};
  const data::LoaderOptions two{.scale = PixelScale::raw, .normalise = data::cifar10_statistics};
  const std::string scale =
      "mean and deviation are of pixels from 0 to 1; leave the scale of the pixels at unit";
  CHECK(files::message<UsageError>([&] { Loader(set, 1, 0, two); }) == scale);
  CHECK(files::message<UsageError>([&] { InOrder(set, 1, two); }) == scale);
  CHECK(files::message<UsageError>([&] { Loader(set, 1, 0, {.normalise = data::cifar10_statistics}); }) ==
        "there are mean and deviation of 3 channels; the images of deep have 4");
}

TEST_CASE("Loader: each epoch shows every image once, in an order of its own") {
  const Dataset set = numbered(600);
  Loader loader(set, 50, 7, raw);
  CHECK(loader.batches_per_epoch() == 12);
  std::set<std::vector<int>> orders;
  std::vector<int> in_order(600);
  for (int i = 0; i < 600; ++i) in_order[static_cast<std::size_t>(i)] = i;
  for (int epoch = 0; epoch < 5; ++epoch) {
    CHECK(loader.epoch() == epoch);
    std::vector<int> order = drawn(loader, 12);
    orders.insert(order);
    CHECK(order != in_order);
    std::ranges::sort(order);
    CHECK(order == in_order);
  }
  CHECK(orders.size() == 5);
}

TEST_CASE("Loader: what does not fill a batch is dropped for the epoch, not for good") {
  const Dataset set = numbered(103);
  Loader loader(set, 20, 7, raw);
  CHECK(loader.batches_per_epoch() == 5);
  std::set<int> seen;
  for (int epoch = 0; epoch < 20; ++epoch) {
    const std::vector<int> order = drawn(loader, 5);
    CHECK(std::set<int>(order.begin(), order.end()).size() == 100);
    seen.insert(order.begin(), order.end());
  }
  CHECK(loader.epoch() == 20);
  CHECK(seen.size() == 103);
}

TEST_CASE("Loader: the same seed gives the same order, another seed another") {
  const Dataset set = numbered(500);
  Loader a(set, 32, 7, raw), b(set, 32, 7, raw), c(set, 32, 8, raw);
  const std::vector<int> order = drawn(a, 40);
  CHECK(order == drawn(b, 40));
  CHECK(order != drawn(c, 40));

  // Frozen, epochs 0 and 1: a change here changes every recorded run.
  Loader frozen(set, 8, 1, raw);
  CHECK(drawn(frozen, 1) == std::vector<int>{96, 180, 50, 241, 491, 492, 107, 250});
  drawn(frozen, frozen.batches_per_epoch() - 1);
  CHECK(drawn(frozen, 1) == std::vector<int>{332, 30, 349, 238, 141, 452, 261, 497});
}

TEST_CASE("InOrder: every image once, in the order of the file, the last batch short") {
  const Dataset set = numbered(103);
  std::vector<int> order;
  std::vector<std::int64_t> sizes;
  for (const Batch& batch : InOrder(set, 50, raw)) {
    sizes.push_back(batch.size());
    CHECK(batch.images.shape() == Shape{batch.size(), 784});
    for (const int number : numbers(batch)) order.push_back(number);
  }
  CHECK(sizes == std::vector<std::int64_t>{50, 50, 3});
  REQUIRE(order.size() == 103);
  for (int i = 0; i < 103; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  CHECK(InOrder(set, 103).size() == 1);
  CHECK(InOrder(set, 1000)[0].size() == 103);
}

TEST_CASE("Loader and InOrder: batch sizes that cannot be") {
  const Dataset set = numbered(10);
  const auto message = [&](std::int64_t size) {
    return files::message<UsageError>([&] { Loader(set, size, 1); });
  };
  CHECK(message(11) ==
        "a batch of 11 images cannot be drawn from the 10 of numbered; choose a batch size from 1 to 10");
  CHECK(message(0) ==
        "a batch of 0 images cannot be drawn from the 10 of numbered; choose a batch size from 1 to 10");
  CHECK(message(-1).find("a batch of -1 images") == 0);
  CHECK(files::message<UsageError>([&] { InOrder(set, 0); }) ==
        "a batch cannot hold 0 images; choose 1 or more");
  CHECK(files::message<Error>([&] { InOrder(set, 10)[1]; }) == "there is no batch 1: numbered makes 1 of 10");
}
