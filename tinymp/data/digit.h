#pragma once

#include <tinymp/data/picture.h>

namespace tinymp::data {

/// A handwritten digit as the images of MNIST show it, and what was found on the way.
struct Digit {
  Picture image{};          ///< (28,28) grey, 0 background .. 255 ink
  bool is_dark_ink = true;  ///< dark on light, as on paper; false: light on dark, as on a blackboard
  std::int64_t top = 0, left = 0, rows = 0, cols = 0;  ///< the ink in the picture, in its pixels
  int contrast = 0;                                    ///< how far the ink stands out from its paper, of 255
  int pieces = 0;                                      ///< connected pieces of ink
};

/// Makes an image of MNIST out of a drawing or a photograph of one digit: finds the ink (digit_ink.h), scales its
/// longer side to 20 pixels, keeps the aspect, and puts the centre of mass of its levels on pixel (14,14)
/// of 28 x 28, counted from 0, where MNIST has it. Source: LeCun, Bottou, Bengio and Haffner, "Gradient-based
/// learning applied to document recognition", 1998, section III.A; the page of the MNIST database.
///
/// Sums are integers: the same picture gives the same image everywhere. Throws Error, naming `path`, when
/// the picture holds no ink that stands out from its paper.
Digit read_digit(const Picture& picture, const std::string& path = "the picture");

}  // namespace tinymp::data
