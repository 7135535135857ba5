#pragma once

#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/cpu/gemm/pack.h>
#include <kernels/formulas/window.h>

/// Images as the tiles want them: in FP32, with their padding beside them.
namespace tinymp::kernels::cpu {

/// Each row of an image inside a row of zeros; pixels that do not fit are cut off.
struct Frame {
  std::int64_t left, width;  ///< where the image begins in the frame; of the frame
};

/// A padded image: pixel (h,w) of the frame begins at values + h * row + w * channels.
struct Padded {
  const float* values;
  std::int64_t row;
};

/// Image number `image` of x:(B,H,W,C) in its frame: in x's own memory where nothing has to be done, else in
/// `memory`, which holds size_of_frame() floats.
Padded padded(const View& x, std::int64_t image, const Frame& frame, float* memory);
std::int64_t size_of_frame(const View& x, const Frame& frame);

/// x in FP32: its own memory, or `memory`, which holds size_if_narrow() floats.
const float* widened(const View& x, float* memory);
inline std::int64_t size_if_narrow(const View& x) { return x.dtype == DType::f32 ? 0 : x.size(); }

/// y as rows of pixels (B Ho, Wo O), and what follows a product for each such row.
struct RowsOfPixels {
  RowsOfPixels(const View& y, const Epilogue& after);

  /// Where the sums of a row grow: in y itself, or beside it.
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
  Epilogue follows;
};

/// How many images a thread takes at a time, when each costs so many multiplications.
std::int64_t images_at_a_time(std::int64_t images, std::int64_t multiplications);

/// A tile's share of `rows`, which are cut into as few equal pieces as there can be.
std::int64_t even_share(std::int64_t rows, std::int64_t most);

/// Every c(r,n) for any number of rows and columns: `work` holds the first tile's a, b and c.
void multiply_all(const Tile& tile, TileWork work, std::int64_t rows, std::int64_t columns);

}  // namespace tinymp::kernels::cpu
