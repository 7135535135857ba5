#pragma once

#include <tinymp/data/loader.h>
#include <tinymp/data/picture.h>

namespace tinymp::data {

/// What a model is shown of a picture.
struct PictureInput {
  Dataset image{};          ///< one image, label 0, for InOrder
  LoaderOptions options{};  ///< for InOrder, as images of this shape are trained on
  std::string remark{};     ///< what was done: "dark ink, 148 x 96 pixels at row 20, column 31"
};

/// Pixels of images of a shape as `./learn train` gives them to a classifier: 0 .. 1, and in colour less the mean,
/// over the deviation, of CIFAR-10's channels.
LoaderOptions usual_options(const ImageShape& shape);

/// Makes an input of a picture for a model that takes images of `shape`: grey, 28 x 28, as MNIST has digits
/// (digit.h); in colour, 32 x 32, the square in the middle (resize.h). `path` is for messages.
/// Throws Error for another shape, and when a digit is looked for and nothing stands out.
PictureInput input_from(const Picture& picture, const ImageShape& shape, const std::string& path);

}  // namespace tinymp::data
