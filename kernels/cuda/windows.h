#pragma once

#include <kernels/cuda/gemm/mma_tile.h>

/// The operands of a convolution as matrices, for tensor cores. The matrix of windows is written nowhere: its elements
/// are copied out of the images when a tile wants them ("implicit GEMM"; Chetlur et al. 2014, "cuDNN: Efficient
/// Primitives for Deep Learning", section 3).
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// Copies 8 elements into a tile, `width` at a time: at(i) is where element i lies, and its width - 1 neighbours, or
/// nullptr where there are zeros. With a width of 8 or 2 these addresses are multiples of 16 or 4 bytes, and so is
/// `any`, an address that can be read.
template <int width, class T, class At>
__device__ void copy_piece(T* to, const T* any, At at) {
  TINYMP_UNROLL
  for (int i = 0; i < 8; i += width) {
    const T* const from = at(i);
    if constexpr (width == 8) {
      cp_async_16(to, from != nullptr ? from : any, from != nullptr ? 16 : 0);
    } else if constexpr (width == 2) {
      cp_async_4(to + i, from != nullptr ? from : any, from != nullptr ? 4 : 0);
    } else {
      to[i] = from != nullptr ? *from : narrow<T>(0.0f);
    }
  }
}

/// A window goes over images:(B,height,width,channels). The matrix has a row for each of its places, (b,oh,ow), and a
/// column for each value in it, (kh,kw,c).
template <class T>
struct Windows {
  const T* images;
  int height, width, channels;
  int down = 0, across = 0;  // places in an image: Ho, Wo
  int taps_across = 0;       // the width of the window
  int stride = 1;            // from one place to the next
  int top = 0, left = 0;     // where the window's first place begins: -padding
  int rows = 0, cols = 0;

  struct Place {
    const T* image;  // nullptr: there is no such row
    int h, w;
  };
  struct Tap {
    int h, w, c;
  };
  static constexpr int outside = 1 << 29;  // of every image

  __device__ Place place(int row) const {
    if (row >= rows) return {nullptr, 0, 0};
    const unsigned pixel = static_cast<unsigned>(row), line = pixel / static_cast<unsigned>(across);
    const unsigned image = line / static_cast<unsigned>(down);
    const int oh = static_cast<int>(line - image * static_cast<unsigned>(down));
    const int ow = static_cast<int>(pixel - line * static_cast<unsigned>(across));
    return {images + std::int64_t{image} * height * width * channels, oh * stride + top, ow * stride + left};
  }
  __device__ Tap tap(int col) const {
    if (col >= cols) return {outside, 0, 0};
    const unsigned value = static_cast<unsigned>(col), pixel = value / static_cast<unsigned>(channels);
    const unsigned line = pixel / static_cast<unsigned>(taps_across);
    return {static_cast<int>(line), static_cast<int>(pixel - line * static_cast<unsigned>(taps_across)),
            static_cast<int>(value - pixel * static_cast<unsigned>(channels))};
  }
  __device__ const T* at(const Place& place, const Tap& tap) const {
    const int h = place.h + tap.h, w = place.w + tap.w;
    if (place.image == nullptr || h < 0 || h >= height || w < 0 || w >= width) return nullptr;
    return place.image + (h * width + w) * channels + tap.c;
  }
};

/// Copies tiles of windows: of those from `row` on, which a thread places once, all along k.
template <int width, class Tile, int threads, class T>
struct RowsOfWindows {
  const Windows<T>& windows;
  typename Windows<T>::Place places[turns_of<Tile, threads>];

  __device__ RowsOfWindows(const Windows<T>& all, int row) : windows(all) {
    static_assert(Tile::by_rows);
    for_each_place<Tile, threads>([&](int turn, int line, int) { places[turn] = windows.place(row + line); });
  }
  __device__ void operator()(const Tile& tile, int k) const {
    for_each_place<Tile, threads>([&](int turn, int line, int element) {
      copy_piece<width>(tile.line(line, element), windows.images,
                        [&](int i) { return windows.at(places[turn], windows.tap(k + element + i)); });
    });
  }
};

/// Copies tiles of the transposed matrix: of the columns from `col` on, which a thread finds once, all along k, the
/// places.
template <int width, class Tile, int threads, class T>
struct ColumnsOfWindows {
  const Windows<T>& windows;
  typename Windows<T>::Tap taps[8 / width];

  __device__ ColumnsOfWindows(const Windows<T>& all, int col) : windows(all) {
    static_assert(!Tile::by_rows && threads % (Tile::length / 8) == 0,
                  "a thread copies the same columns in each turn");
    const int element = static_cast<int>(threadIdx.x) % (Tile::length / 8) * 8;
    TINYMP_UNROLL
    for (int i = 0; i < 8; i += width) taps[i / width] = windows.tap(col + element + i);
  }
  __device__ void operator()(const Tile& tile, int k) const {
    for_each_place<Tile, threads>([&](int, int line, int element) {
      const typename Windows<T>::Place place = windows.place(k + line);
      copy_piece<width>(tile.line(line, element), windows.images,
                        [&](int i) { return windows.at(place, taps[i / width]); });
    });
  }
};

/// Copies tiles of a matrix that lies row by row without gaps, from column `col` on.
template <int width, class Tile, int threads, class T>
struct RowsOfMatrix {
  Source<T> x;
  int col;

  __device__ void operator()(const Tile& tile, int k) const {
    static_assert(Tile::by_rows);
    for_each_place<Tile, threads>([&](int, int line, int element) {
      copy_piece<width>(tile.line(line, element), x.data, [&](int i) -> const T* {
        if (k + line >= x.rows || col + element + i >= x.cols) return nullptr;
        return x.data + std::int64_t{k + line} * x.ld + col + element + i;
      });
    });
  }
};

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
