#include <tinymp/base/error.h>
#include <tinymp/data/gzip.h>
#include <tinymp/data/picture.h>
#include <tinymp/data/picture_decoder.h>
#include <algorithm>
#include <utility>

namespace tinymp::data {
namespace {

using Pixels = std::vector<std::uint8_t>;

/// Lays alpha on white: each level a / 255 of itself, the rest 255, rounded. Two channels become one, four three.
Pixels on_white(const DecodedPicture& decoded) {
  const auto all = static_cast<std::size_t>(decoded.channels), colours = all - 1;
  Pixels flat;
  flat.reserve(decoded.pixels.size() / all * colours);
  for (std::size_t pixel = 0; pixel < decoded.pixels.size(); pixel += all) {
    const int alpha = decoded.pixels[pixel + colours];
    for (std::size_t c = 0; c < colours; ++c) {
      const int level = decoded.pixels[pixel + c] * alpha + 255 * (255 - alpha);
      flat.push_back(static_cast<std::uint8_t>((level + 127) / 255));
    }
  }
  return flat;
}

void stretch_levels(Pixels& pixels, int most_level) {
  if (most_level == 255) return;
  for (std::uint8_t& level : pixels)
    level = static_cast<std::uint8_t>((std::min<int>(level, most_level) * 255 + most_level / 2) / most_level);
}

/// Turns a picture upright. Orientation 5 .. 8 swap rows and columns; 3, 4, 6, 7 then count rows from below,
/// 2, 3, 7, 8 columns from the right.
Picture upright(Picture stored, int orientation) {
  if (orientation == 1) return stored;
  const bool is_turned = orientation >= 5;
  const bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation >= 7;
  Picture turned{stored.shape, Pixels(stored.pixels.size())};
  if (is_turned) std::swap(turned.shape.rows, turned.shape.cols);
  auto to = turned.pixels.begin();
  for (std::int64_t r = 0; r < turned.shape.rows; ++r) {
    for (std::int64_t c = 0; c < turned.shape.cols; ++c) {
      std::int64_t row = is_turned ? c : r, col = is_turned ? r : c;
      if (from_below) row = stored.shape.rows - 1 - row;
      if (from_right) col = stored.shape.cols - 1 - col;
      for (std::int64_t channel = 0; channel < stored.shape.channels; ++channel)
        *to++ = stored.at(row, col, channel);
    }
  }
  return turned;
}

}  // namespace

Picture decode_picture(std::span<const std::uint8_t> file, const std::string& path) {
  const PictureHeader header = inspect_picture(file, path);
  DecodedPicture decoded = decode_with_stb(file, header, path);
  const bool has_alpha = decoded.channels % 2 == 0;
  Picture picture;
  picture.shape = {header.rows, header.cols, has_alpha ? decoded.channels - 1 : decoded.channels};
  picture.pixels = has_alpha ? on_white(decoded) : std::move(decoded.pixels);
  stretch_levels(picture.pixels, header.most_level);
  return upright(std::move(picture), header.orientation);
}

Picture read_picture(const std::string& path) {
  const Pixels file = read_maybe_gzip(path, "give a PNG, JPEG, BMP or PGM", most_picture_bytes + 1);
  expect(file.size() <= most_picture_bytes, path, ": more than ", most_picture_bytes >> 20,
         " MiB; make it smaller first");
  return decode_picture(file, path);
}

Picture to_grey(Picture picture) {
  if (picture.shape.channels == 1) return picture;
  Pixels grey;
  grey.reserve(picture.pixels.size() / 3);
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3) {
    const std::uint8_t* pixel = picture.pixels.data() + i;
    grey.push_back(static_cast<std::uint8_t>((77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8));
  }
  return {{picture.shape.rows, picture.shape.cols, 1}, std::move(grey)};
}

Picture to_colour(Picture picture) {
  if (picture.shape.channels == 3) return picture;
  Pixels colour;
  colour.reserve(picture.pixels.size() * 3);
  for (const std::uint8_t level : picture.pixels) colour.insert(colour.end(), 3, level);
  return {{picture.shape.rows, picture.shape.cols, 3}, std::move(colour)};
}

Picture centre_square(const Picture& picture) {
  const std::int64_t side = std::min(picture.shape.rows, picture.shape.cols);
  const std::int64_t top = (picture.shape.rows - side) / 2, left = (picture.shape.cols - side) / 2;
  const std::int64_t channels = picture.shape.channels;
  Picture square{{side, side, channels}, {}};
  square.pixels.reserve(static_cast<std::size_t>(side * side * channels));
  for (std::int64_t r = 0; r < side; ++r) {
    const auto row = picture.pixels.begin() + ((top + r) * picture.shape.cols + left) * channels;
    square.pixels.insert(square.pixels.end(), row, row + side * channels);
  }
  return square;
}

bool is_coloured(const Picture& picture) {
  if (picture.shape.channels == 1) return false;
  std::size_t coloured = 0;
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3) {
    const auto [least, most] = std::minmax({picture.pixels[i], picture.pixels[i + 1], picture.pixels[i + 2]});
    coloured += most - least > 32 ? 1 : 0;
  }
  return coloured * 100 >= picture.pixels.size() / 3;
}

}  // namespace tinymp::data
