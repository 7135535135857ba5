#include <tinymp/base/error.h>
#include <tinymp/data/digit.h>
#include <tinymp/data/picture_input.h>
#include <tinymp/data/resize.h>
#include <utility>

namespace tinymp::data {
namespace {

constexpr ImageShape grey_shape{}, colour_shape{.rows = 32, .cols = 32, .channels = 3};

PictureInput input_of(const std::string& path, Picture image, std::string remark) {
  const ImageShape shape = image.shape;
  return {{path, 1, std::move(image.pixels), {0}, shape}, usual_options(shape), std::move(remark), {}};
}

PictureInput from_digit(const Picture& picture, const std::string& path) {
  Digit digit = read_digit(picture, path);
  PictureInput input =
      input_of(path, std::move(digit.image),
               concat(digit.is_dark_ink ? "dark ink on light, " : "light ink on dark, ", digit.cols, " x ",
                      digit.rows, " pixels at row ", digit.top, ", column ", digit.left));
  if (digit.is_dark_ink)
    input.notes.emplace_back("Inverted: the ink is dark, and the model knows light ink on black.");
  if (digit.rows * 10 < picture.shape.rows * 9 || digit.cols * 10 < picture.shape.cols * 9)
    input.notes.push_back(concat("Cropped: the digit takes ", digit.cols, " x ", digit.rows, " of the ",
                                 picture.shape.cols, " x ", picture.shape.rows, " pixels (width x height)."));
  if (digit.contrast < low_contrast)
    input.notes.push_back(concat("Low contrast: the ink differs from its paper by ", digit.contrast,
                                 " of 255 levels, so that the answer may be about noise."));
  if (digit.pieces > 1)
    input.notes.push_back(concat(digit.pieces,
                                 " pieces of ink that do not touch are read as one digit; crop the "
                                 "picture if they are several."));
  return input;
}

/// The mean of the outermost pixels: the ground that a thing lies on.
std::int64_t level_of_edge(const Picture& grey) {
  std::int64_t sum = 0, count = 0;
  for (std::int64_t r = 0; r < grey.shape.rows; ++r) {
    for (std::int64_t c = 0; c < grey.shape.cols; ++c) {
      const bool is_edge = r == 0 || c == 0 || r + 1 == grey.shape.rows || c + 1 == grey.shape.cols;
      if (is_edge) sum += grey.at(r, c), ++count;
    }
  }
  return sum / count;
}

PictureInput from_whole(const Picture& picture, const std::string& path) {
  return input_of(path, grey_28x28(picture),
                  concat("the whole picture of ", picture.shape.cols, " x ", picture.shape.rows, " pixels"));
}

PictureInput from_garment(const Picture& picture, const std::string& path) {
  PictureInput input = from_whole(picture, path);
  if (level_of_edge(to_grey(picture)) < 128) return input;
  for (std::uint8_t& level : input.image.images) level = static_cast<std::uint8_t>(255 - level);
  input.notes.emplace_back("Inverted: the ground is light, and the model knows garments on black.");
  return input;
}

PictureInput from_colour(const Picture& picture, const std::string& path) {
  const std::int64_t rows = picture.shape.rows, cols = picture.shape.cols;
  PictureInput input = input_of(path, colour_32x32(picture),
                                concat("the square in the middle of ", cols, " x ", rows, " pixels"));
  if (rows != cols)
    input.notes.push_back(
        concat("Cropped: only the square in the middle of the ", cols, " x ", rows, " pixels is looked at."));
  return input;
}

}  // namespace

LoaderOptions usual_options(const ImageShape& shape) {
  LoaderOptions options;
  if (shape.channels == 3) options.normalise = cifar10_statistics;
  return options;
}

PictureInput input_from(const Picture& picture, const ImageShape& shape, const std::string& path,
                        PictureStyle style) {
  expect(shape == grey_shape || shape == colour_shape, path, ": no picture can be made ", shape.rows, " x ",
         shape.cols, " x ", shape.channels,
         "; models of 28 x 28 grey and of 32 x 32 colour images read pictures");
  if (shape == colour_shape) return from_colour(picture, path);
  if (style == PictureStyle::digit) return from_digit(picture, path);
  return style == PictureStyle::garment ? from_garment(picture, path) : from_whole(picture, path);
}

}  // namespace tinymp::data
