#pragma once

#include <tinymp/data/picture.h>

namespace tinymp::data {

/// Resizes a picture to (rows, cols), each axis by itself:
///
///   fewer pixels  the mean of the area that a new pixel covers, parts of pixels by their share
///   more pixels   between the two nearest centres in a line (bilinear); beyond the outer centres as they are
///
/// Sums are integers and rounded once, halves up: exact, the same on every machine. Throws Error unless the
/// picture and the new size hold at least one pixel and the new one at most most_picture_pixels.
Picture resized(const Picture& picture, std::int64_t rows, std::int64_t cols);

/// The whole picture in a square: resized so that its longer side is `side`, the shorter one filled up on both
/// ends with the mean of the outermost pixels, channel by channel.
Picture fitted(const Picture& picture, std::int64_t side);

/// 32 x 32 in colour as CIFAR-10 has it: the square in the middle, resized.
Picture colour_32x32(const Picture& picture);

/// 28 x 28 grey, the whole picture (fitted). Levels stay as they are: no search for ink, which digit.h has.
Picture grey_28x28(const Picture& picture);

}  // namespace tinymp::data
