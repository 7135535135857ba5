#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/resize.h>
#include <algorithm>
#include <cmath>

using namespace tinymp;
using data::Picture;
using data::resized;
using files::Bytes;

namespace {

Picture random_picture(Rng& rng, std::int64_t rows, std::int64_t cols, std::int64_t channels) {
  Picture picture{{rows, cols, channels}, {}};
  for (std::int64_t i = 0; i < picture.shape.size(); ++i)
    picture.pixels.push_back(static_cast<std::uint8_t>(rng.below(256)));
  return picture;
}

/// Weights of all old pixels of a line for new pixel i, in FP64; straight from what resize.h says.
std::vector<double> weights(std::int64_t n, std::int64_t m, std::int64_t i) {
  std::vector<double> all(static_cast<std::size_t>(n));
  const double scale = static_cast<double>(n) / static_cast<double>(m);
  const auto at = static_cast<double>(i);
  for (std::int64_t old = 0; old < n; ++old) {
    const auto x = static_cast<double>(old);
    const double area = std::min((at + 1) * scale, x + 1) - std::max(at * scale, x);
    const double centre = std::clamp((at + 0.5) * scale - 0.5, 0.0, static_cast<double>(n - 1));
    const double weight = m <= n ? area / scale : 1 - std::abs(centre - x);
    all[static_cast<std::size_t>(old)] = std::max(weight, 0.0);
  }
  return all;
}

double reference(const Picture& picture, std::int64_t rows, std::int64_t cols, std::int64_t r, std::int64_t c,
                 std::int64_t channel) {
  const std::vector<double> down = weights(picture.shape.rows, rows, r),
                            across = weights(picture.shape.cols, cols, c);
  double sum = 0;
  for (std::int64_t y = 0; y < picture.shape.rows; ++y)
    for (std::int64_t x = 0; x < picture.shape.cols; ++x)
      sum +=
          down[static_cast<std::size_t>(y)] * across[static_cast<std::size_t>(x)] * picture.at(y, x, channel);
  return sum;
}

}  // namespace

TEST_CASE("resized: every pixel is the mean, or the point on the line, of float64, rounded") {
  Rng rng(7);
  for (int trial = 0; trial < 60; ++trial) {
    const auto length = [&] { return static_cast<std::int64_t>(1 + rng.below(23)); };
    const std::int64_t old_rows = length(), old_cols = length(), rows = length(), cols = length();
    const Picture picture = random_picture(rng, old_rows, old_cols, trial % 2 == 0 ? 1 : 3);
    const Picture small = resized(picture, rows, cols);
    REQUIRE(small.shape == data::ImageShape{rows, cols, picture.shape.channels});
    double worst = 0;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < cols; ++c)
        for (std::int64_t k = 0; k < small.shape.channels; ++k)
          worst = std::max(worst, std::abs(small.at(r, c, k) - reference(picture, rows, cols, r, c, k)));
    CHECK(worst <= 0.5 + 1e-9);
  }
}

TEST_CASE("resized: by hand") {
  CHECK(resized({{1, 3, 1}, {0, 30, 90}}, 1, 2).pixels ==
        Bytes{10, 70});  // 0 and half of 30; the rest and 90
  CHECK(resized({{1, 2, 1}, {0, 100}}, 1, 4).pixels == Bytes{0, 25, 75, 100});
  CHECK(resized({{1, 2, 1}, {0, 1}}, 1, 1).pixels == Bytes{1});  // a half is rounded up
  const Picture same{{2, 2, 3}, files::counting(12)};
  CHECK(resized(same, 2, 2).pixels == same.pixels);
  CHECK_THROWS_AS(resized({}, 2, 2), Error);
  CHECK_THROWS_AS(resized(same, 0, 2), Error);
  CHECK_THROWS_AS(resized(same, 1'000'000, 1'000'000), Error);
}

TEST_CASE("fitted: all of the picture in a square, its edge beyond") {
  const Picture tall{{4, 2, 1}, {9, 9, 9, 9, 9, 9, 9, 9}};
  CHECK(data::fitted(tall, 4).pixels == Bytes(16, 9));
  const Picture line{{1, 2, 1}, {0, 100}};
  CHECK(data::fitted(line, 2).pixels == Bytes{0, 100, 50, 50});
  CHECK(data::grey_28x28({{56, 28, 1}, Bytes(56 * 28, 200)}).shape == data::ImageShape{28, 28, 1});
  CHECK(data::grey_28x28({{1, 5000, 1}, Bytes(5000, 200)}).pixels == Bytes(784, 200));
}

TEST_CASE("colour_32x32: the square in the middle") {
  Picture wide{{32, 64, 1}, {}};
  for (int i = 0; i < 32 * 64; ++i) wide.pixels.push_back(i % 64 >= 16 && i % 64 < 48 ? 200 : 0);
  CHECK(data::colour_32x32(wide).pixels == Bytes(32 * 32 * 3, 200));
}
