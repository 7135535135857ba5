#pragma once

#include <kernels/cpu/conv/conv_images.h>

/// Few outputs leave most of a register of outputs idle, but a register of pixels is full. So each channel of
/// an image is a plane here, and the rows of several images lie side by side in one long row.
namespace tinymp::kernels::cpu {

/// y(b,h,w,o) = sum over kh, kw, c of  x(b, top + h + kh, left + w + kw, c) values(kh,kw,c,o).
struct Taps {
  const float* values;
  std::int64_t height, width;
  std::int64_t top, left;
};

/// Whether a convolution is faster in planes. The window has to move by one pixel.
inline bool goes_in_planes(const Tile& tile, const Window& window, std::int64_t outputs) {
  return window.stride == 1 && 4 * outputs <= 3 * tile.width;
}

/// y:(B,Ho,Wo,O) from x:(B,H,W,C), with the same bits as the convolution of conv.cpp.
void conv2d_in_planes(const View& x, const Taps& taps, const Shape& y, const RowsOfPixels& rows,
                      DType accumulate);

}  // namespace tinymp::kernels::cpu
