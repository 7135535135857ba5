#pragma once

#include <tinymp/data/picture.h>

namespace tinymp::data {

struct Box {
  std::int64_t top = 0, left = 0, rows = 0, cols = 0;
};

/// The box around all levels above 0; without any, its rows and cols are 0.
Box box_around(const Picture& levels);

/// Where a picture has ink, and how much.
struct Ink {
  Picture levels{};     ///< (H,W) grey, 0 paper .. 255 ink; at most 320 on its longer side
  Box box{};            ///< around the ink, in `levels`
  bool is_dark = true;  ///< ink darker than the paper
  int contrast = 0;     ///< how far the ink stands out from its paper, of 255
  int pieces = 0;       ///< connected pieces of ink that were kept
};

/// Separates ink from paper, whatever the light on it:
///
///   1. resizes the picture to at most 320 pixels and averages 3 x 3 of them where it is noisy;
///   2. compares each pixel with the paper around it: the closing of the picture (the largest, then the smallest
///      level in a square wider than any stroke), which follows a shadow but passes over ink. The difference is
///      the "black hat" of Meyer 1979; of the inverted picture it finds light ink;
///   3. calls ink what differs by nearly half of what the most distinct pixels do;
///   4. drops connected pieces of less than a tenth of the largest one, and pieces that touch the edge of the
///      picture when others do not: specks, and the table beside the paper;
///   5. takes dark ink, unless light ink stands out twice as much or encloses the dark.
///
/// Throws Error, naming `path`, when nothing stands out.
Ink find_ink(const Picture& picture, const std::string& path);

}  // namespace tinymp::data
