#include <tinymp/base/error.h>
#include <tinymp/data/resize.h>
#include <algorithm>
#include <array>

namespace tinymp::data {
namespace {

/// Which old pixels make each new one: weights[i] are of the pixels first[i], first[i] + 1, ...; they add up to
/// `total` for each i.
struct Axis {
  std::int64_t total = 1;
  std::vector<std::int64_t> first{};
  std::vector<std::vector<std::int64_t>> weights{};
};

/// A line of n pixels becomes one of m, m <= n. In units of 1/m old pixel, new pixel i covers i n .. (i+1) n.
Axis averaging(std::int64_t n, std::int64_t m) {
  Axis axis{.total = n};
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t begin = i * n, end = begin + n;
    axis.first.push_back(begin / m);
    std::vector<std::int64_t>& weights = axis.weights.emplace_back();
    for (std::int64_t old = begin / m; old * m < end; ++old)
      weights.push_back(std::min(end, (old + 1) * m) - std::max(begin, old * m));
  }
  return axis;
}

/// m > n. In units of 1/(2m) old pixel, the centre of new pixel i lies at (2i + 1) n - m, centre 0 of the old
/// ones at 0.
Axis interpolating(std::int64_t n, std::int64_t m) {
  Axis axis{.total = 2 * m};
  for (std::int64_t i = 0; i < m; ++i) {
    const std::int64_t at = std::clamp<std::int64_t>((2 * i + 1) * n - m, 0, (n - 1) * 2 * m);
    const std::int64_t old = at / (2 * m), share = at % (2 * m);
    axis.first.push_back(old);
    axis.weights.push_back(share == 0 ? std::vector<std::int64_t>{2 * m}
                                      : std::vector<std::int64_t>{2 * m - share, share});
  }
  return axis;
}

/// The rounded mean of the outermost pixels, channel by channel.
std::array<std::uint8_t, 3> mean_of_edge(const Picture& picture) {
  const ImageShape& shape = picture.shape;
  std::array<std::int64_t, 3> sums{};
  std::int64_t count = 0;
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    for (std::int64_t c = 0; c < shape.cols; ++c) {
      if (r > 0 && r < shape.rows - 1 && c > 0 && c < shape.cols - 1) continue;
      ++count;
      for (std::int64_t channel = 0; channel < shape.channels; ++channel)
        sums[static_cast<std::size_t>(channel)] += picture.at(r, c, channel);
    }
  }
  std::array<std::uint8_t, 3> mean{};
  for (std::size_t i = 0; i < mean.size(); ++i)
    mean[i] = static_cast<std::uint8_t>((sums[i] + count / 2) / count);
  return mean;
}

Axis axis_of(std::int64_t n, std::int64_t m) { return m <= n ? averaging(n, m) : interpolating(n, m); }

}  // namespace

Picture resized(const Picture& picture, std::int64_t rows, std::int64_t cols) {
  const ImageShape& shape = picture.shape;
  expect(shape.rows > 0 && shape.cols > 0 && rows > 0 && cols > 0 && rows <= most_picture_pixels / cols,
         "resized: a picture of ", shape.rows, " x ", shape.cols, " cannot become one of ", rows, " x ",
         cols);
  const Axis down = axis_of(shape.rows, rows), across = axis_of(shape.cols, cols);
  const auto channels = static_cast<std::size_t>(shape.channels);
  Picture small{{rows, cols, shape.channels}, {}};
  small.pixels.reserve(static_cast<std::size_t>(small.shape.size()));
  const std::int64_t total = down.total * across.total;
  std::vector<std::int64_t> column(static_cast<std::size_t>(shape.cols) * channels);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    std::ranges::fill(column, 0);  // the rows that make row r, added up
    const std::uint8_t* in = picture.pixels.data() + down.first[r] * shape.cols * shape.channels;
    for (const std::int64_t weight : down.weights[r]) {
      for (std::int64_t& sum : column) sum += weight * *in++;
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) {
      std::array<std::int64_t, 3> sums{};
      const std::int64_t* from = column.data() + across.first[c] * shape.channels;
      for (const std::int64_t weight : across.weights[c]) {
        for (std::size_t channel = 0; channel < channels; ++channel) sums[channel] += weight * *from++;
      }
      for (std::size_t channel = 0; channel < channels; ++channel)
        small.pixels.push_back(static_cast<std::uint8_t>((sums[channel] + total / 2) / total));
    }
  }
  return small;
}

Picture fitted(const Picture& picture, std::int64_t side) {
  const std::int64_t longer = std::max(picture.shape.rows, picture.shape.cols);
  const auto length = [&](std::int64_t old) {
    return std::max<std::int64_t>(1, (old * side + longer / 2) / longer);
  };
  const Picture inner = resized(picture, length(picture.shape.rows), length(picture.shape.cols));
  const ImageShape& shape = inner.shape;
  const std::array<std::uint8_t, 3> edge = mean_of_edge(inner);
  Picture square{{side, side, shape.channels}, {}};
  square.pixels.reserve(static_cast<std::size_t>(square.shape.size()));
  const std::int64_t top = (side - shape.rows) / 2, left = (side - shape.cols) / 2;
  for (std::int64_t r = 0; r < side; ++r) {
    for (std::int64_t c = 0; c < side; ++c) {
      const bool is_inside = r >= top && r < top + shape.rows && c >= left && c < left + shape.cols;
      for (std::int64_t channel = 0; channel < shape.channels; ++channel)
        square.pixels.push_back(is_inside ? inner.at(r - top, c - left, channel)
                                          : edge[static_cast<std::size_t>(channel)]);
    }
  }
  return square;
}

Picture colour_32x32(const Picture& picture) { return resized(to_colour(centre_square(picture)), 32, 32); }

Picture grey_28x28(const Picture& picture) { return fitted(to_grey(picture), 28); }

}  // namespace tinymp::data
