#include <tinymp/base/error.h>
#include <tinymp/data/digit.h>
#include <tinymp/data/digit_ink.h>
#include <tinymp/data/resize.h>
#include <algorithm>

namespace tinymp::data {
namespace {

constexpr std::int64_t side = 28, digit_side = 20;
// Counted from 0: in MNIST's own images the mean centre is (13.99, 14.01).
constexpr std::int64_t middle = 14;

Picture crop(const Picture& ink, const Box& box) {
  Picture cropped{{box.rows, box.cols, 1}, {}};
  for (std::int64_t r = 0; r < box.rows; ++r)
    for (std::int64_t c = 0; c < box.cols; ++c) cropped.pixels.push_back(ink.at(box.top + r, box.left + c));
  return cropped;
}

/// The longer side becomes 20 pixels, the largest level 255: a thin line is grey where its pixels are averaged.
Picture scaled(const Picture& ink) {
  const std::int64_t longer = std::max(ink.shape.rows, ink.shape.cols);
  const auto length = [&](std::int64_t old) {
    return std::max<std::int64_t>(1, (old * digit_side + longer / 2) / longer);
  };
  Picture small = resized(ink, length(ink.shape.rows), length(ink.shape.cols));
  const int most = *std::ranges::max_element(small.pixels);
  for (std::uint8_t& level : small.pixels)
    level = static_cast<std::uint8_t>((level * 255 + most / 2) / std::max(most, 1));
  return small;
}

/// The place of the first pixel along one axis that brings the centre of mass nearest to `middle`. The centre of
/// the ink is moment / mass from its first pixel, whose own centre is 0.
std::int64_t start(std::int64_t mass, std::int64_t moment, std::int64_t length) {
  const std::int64_t twice = 2 * (middle * mass - moment) + mass;  // 2 mass (distance + 1/2)
  const std::int64_t nearest = twice >= 0 ? twice / (2 * mass) : 0;
  return std::clamp<std::int64_t>(nearest, 0, side - length);
}

Picture centred(const Picture& small) {
  std::int64_t mass = 0, down = 0, across = 0;
  for (std::int64_t r = 0; r < small.shape.rows; ++r) {
    for (std::int64_t c = 0; c < small.shape.cols; ++c) {
      mass += small.at(r, c);
      down += small.at(r, c) * r;
      across += small.at(r, c) * c;
    }
  }
  const std::int64_t top = start(mass, down, small.shape.rows), left = start(mass, across, small.shape.cols);
  Picture image{{side, side, 1}, std::vector<std::uint8_t>(static_cast<std::size_t>(side * side))};
  for (std::int64_t r = 0; r < small.shape.rows; ++r)
    for (std::int64_t c = 0; c < small.shape.cols; ++c)
      image.pixels[static_cast<std::size_t>((top + r) * side + left + c)] = small.at(r, c);
  return image;
}

}  // namespace

Digit read_digit(const Picture& picture, const std::string& path) {
  const Ink ink = find_ink(picture, path);
  const Box& box = ink.box;
  Digit digit{centred(scaled(crop(ink.levels, box))), ink.is_dark};
  const ImageShape &from = ink.levels.shape, &to = picture.shape;
  digit.top = box.top * to.rows / from.rows;
  digit.left = box.left * to.cols / from.cols;
  digit.rows = box.rows * to.rows / from.rows;
  digit.cols = box.cols * to.cols / from.cols;
  digit.contrast = ink.contrast;
  digit.pieces = ink.pieces;
  return digit;
}

}  // namespace tinymp::data
