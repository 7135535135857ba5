#pragma once

#include <tinymp/data/loader.h>
#include <tinymp/data/picture.h>

namespace tinymp::data {

/// What the images show that a model was trained on; it decides how a picture becomes one.
enum class PictureStyle : std::uint8_t {
  digit,    ///< MNIST: light ink on black, in the middle, as digit.h finds it
  garment,  ///< Fashion-MNIST: the whole picture, on black
  whole,    ///< a folder of pictures (picture_folder.h): the whole picture, its levels as they are
};

/// What a model is shown of a picture.
struct PictureInput {
  Dataset image{};          ///< one image, label 0, for InOrder
  LoaderOptions options{};  ///< for InOrder, as images of this shape are trained on
  std::string remark{};     ///< what was done: "dark ink on light, 148 x 96 pixels at row 20, column 31"
  std::vector<std::string> notes{};  ///< sentences on what may surprise: inverted, cropped, low contrast
};

/// Ink that differs from its paper by less, of 255, is noted as low contrast.
inline constexpr int low_contrast = 60;

/// Pixels of images of a shape as `./learn train` gives them to a classifier: 0 .. 1, and in colour less the mean,
/// over the deviation, of CIFAR-10's channels.
LoaderOptions usual_options(const ImageShape& shape);

/// Makes an input of a picture for a model that takes images of `shape`: grey, 28 x 28, as `style` says; in
/// colour, 32 x 32, the square in the middle (resize.h). `path` is for messages.
/// Throws Error for another shape, and when a digit is looked for and nothing stands out.
PictureInput input_from(const Picture& picture, const ImageShape& shape, const std::string& path,
                        PictureStyle style = PictureStyle::digit);

}  // namespace tinymp::data
