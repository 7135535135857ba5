#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/tensor/shape.h>
#include <cstdint>

/// How convolutions and pools go over images. Images are (B,H,W,C), "NHWC": the channels of a pixel lie side
/// by side, and all but the last dimension are rows, so that bias and batch norm see a matrix (B H W, C)
/// without a copy.
namespace tinymp::kernels {

/// A window of height x width pixels. It moves by `stride` pixels, and reaches `padding` pixels over every edge
/// of the image.
struct Window {
  std::int64_t height, width, stride = 1, padding = 0;
};

/// The number of places of a window of `size` pixels along `extent` pixels; 0 if the window is too large.
inline std::int64_t places(std::int64_t extent, std::int64_t size, const Window& window) {
  const std::int64_t room = extent + 2 * window.padding - size;
  return room < 0 ? 0 : room / window.stride + 1;
}

/// A window on its way over x:(B,H,W,C), one place for each pixel of y:(B,Ho,Wo,O).
struct Slide {
  Slide(const Shape& x, const Window& how, const Shape& y)
      : images(x[0]),
        height(x[1]),
        width(x[2]),
        channels(x[3]),
        down(y[1]),
        across(y[2]),
        outputs(y[3]),
        window(how) {}

  std::int64_t images, height, width, channels;
  std::int64_t down, across;  ///< places of the window: Ho, Wo
  std::int64_t outputs;
  Window window;

  /// The place in x where pixel (h,w) of an image begins.
  TINYMP_HD std::int64_t pixel(std::int64_t image, std::int64_t h, std::int64_t w) const {
    return ((image * height + h) * width + w) * channels;
  }
  /// The place in y where pixel (oh,ow) of an image begins.
  TINYMP_HD std::int64_t place(std::int64_t image, std::int64_t oh, std::int64_t ow) const {
    return ((image * down + oh) * across + ow) * outputs;
  }
};

}  // namespace tinymp::kernels
