#pragma once

#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/cpu/gemm/pack.h>
#include <kernels/formulas/window.h>

/// Images in the form that the tiles read: in FP32, with padding around them.
namespace tinymp::kernels::cpu {

/// A row of zeros that holds each row of an image. Pixels that do not fit are cut off.
struct Frame {
  std::int64_t left, width;  ///< the image's first pixel in the frame; width of the frame
};

/// A padded image: pixel (h,w) of the frame begins at values + h * row + w * channels.
struct Padded {
  const float* values;
  std::int64_t row;
};

/// Image number `image` of x:(B,H,W,C) in its frame. It lies in x's own memory when nothing has to change,
/// else in `memory`, which holds size_of_frame() floats.
Padded padded(const View& x, std::int64_t image, const Frame& frame, float* memory);
std::int64_t size_of_frame(const View& x, const Frame& frame);

/// x in FP32: its own memory, or `memory`, which holds size_if_narrow() floats.
const float* widened(const View& x, float* memory);
inline std::int64_t size_if_narrow(const View& x) { return x.dtype == DType::f32 ? 0 : x.size(); }

/// y as rows of pixels (B Ho, Wo O), and the epilogue for each such row.
struct RowsOfPixels {
  RowsOfPixels(const View& y, const Ending& how);

  /// The memory for the sums of a row: y itself when it is FP32, else `beside`.
  float* sums(std::int64_t row, float* beside) const {
    return rows.dtype == DType::f32 ? rows.data<float>() + row * values : beside;
  }
  std::int64_t beside() const { return rows.dtype == DType::f32 ? 0 : values; }
  void finish_row(std::int64_t row, float* sums) const {
    finish(sums, values, 1, values, follows, rows, row, 0);
  }

  std::int64_t values;

 private:
  Scratch<float> repeated_;
  View rows;
  Ending follows;
};

/// The number of images that a thread takes at a time, when each costs so many multiplications.
std::int64_t images_at_a_time(std::int64_t images, std::int64_t multiplications);

/// The rows of one tile when `rows` are cut into as few equal pieces of at most `most` as possible.
std::int64_t even_share(std::int64_t rows, std::int64_t most);

/// Computes c(r,n) for any number of rows and columns. `work` holds the first tile's a, b and c.
void multiply_all(const Tile& tile, TileWork work, std::int64_t rows, std::int64_t columns);

}  // namespace tinymp::kernels::cpu
