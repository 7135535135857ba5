#include <tinymp/base/error.h>
#include <tinymp/data/digit.h>
#include <tinymp/data/picture_input.h>
#include <tinymp/data/resize.h>
#include <utility>

namespace tinymp::data {
namespace {

constexpr ImageShape grey_shape{}, colour_shape{.rows = 32, .cols = 32, .channels = 3};

PictureInput from_digit(const Picture& picture, const std::string& path) {
  Digit digit = read_digit(picture, path);
  return {{path, 1, std::move(digit.image.pixels), {0}, grey_shape},
          usual_options(grey_shape),
          concat(digit.is_dark_ink ? "dark ink on light, " : "light ink on dark, ", digit.rows, " x ",
                 digit.cols, " pixels at row ", digit.top, ", column ", digit.left)};
}

}  // namespace

LoaderOptions usual_options(const ImageShape& shape) {
  LoaderOptions options;
  if (shape.channels == 3) options.normalise = cifar10_statistics;
  return options;
}

PictureInput input_from(const Picture& picture, const ImageShape& shape, const std::string& path) {
  if (shape == grey_shape) return from_digit(picture, path);
  expect(shape == colour_shape, path, ": no picture can be made ", shape.rows, " x ", shape.cols, " x ",
         shape.channels, "; models of 28 x 28 grey and of 32 x 32 colour images read pictures");
  return {{path, 1, colour_32x32(picture).pixels, {0}, colour_shape},
          usual_options(colour_shape),
          concat("the square in the middle of ", picture.shape.rows, " x ", picture.shape.cols, " pixels")};
}

}  // namespace tinymp::data
