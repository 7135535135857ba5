#pragma once

#include <tinymp/base/host_device.h>
#include <cstdint>

/// The images of a data set as an epoch shows them, one text for CPU and GPU. data/loader.h says what crop, flip and
/// transpose mean; its batches are the same.
namespace tinymp::kernels {

/// An image in the order of an epoch, with the place of its crop.
struct ShownImage {
  std::int32_t image = 0;
  std::int8_t down = 0, right = 0;  ///< how far it is moved, in pixels; what comes in from outside is 0
  bool mirrored = false;
};

/// The bytes of a data set, and how they are shown.
struct ImageBytes {
  const std::uint8_t* memory;            ///< (N,H,W,C)
  const float* levels;                   ///< (C,256): the value of each byte
  std::int64_t rows, columns, channels;  ///< H, W, C
  bool transposed;

  TINYMP_HD std::int64_t size() const { return rows * columns * channels; }

  /// Value i of (H,W,C), or of (W,H,C) where images are transposed.
  TINYMP_HD float value(const ShownImage& shown, std::int64_t i) const {
    const std::int64_t channel = i % channels, pixel = i / channels;
    const std::int64_t across = transposed ? rows : columns;
    const std::int64_t first = pixel / across, second = pixel % across;
    const std::int64_t row = (transposed ? second : first) - shown.down;
    std::int64_t column = (transposed ? first : second) - shown.right;
    const bool inside = row >= 0 && row < rows && column >= 0 && column < columns;
    if (shown.mirrored) column = columns - 1 - column;
    const std::int64_t place = ((shown.image * rows + row) * columns + column) * channels + channel;
    return levels[channel * 256 + (inside ? memory[place] : 0)];
  }
};

}  // namespace tinymp::kernels
