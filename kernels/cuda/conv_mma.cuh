#pragma once

#include <kernels/cuda/conv_mma.h>
#include <kernels/cuda/finish.h>
#include <kernels/cuda/values.h>
#include <kernels/cuda/windows.h>
#include <kernels/formulas/conv.h>
#include <kernels/profile.h>

/// A convolution is a product of the matrix of windows. Sums go along k in the order of formulas/conv.h; what it leaves
/// out, rows beyond an image, are zeros here. So an infinity or a NaN that meets such a row, in a weight or in dy, makes NaN
/// here and nothing there.
///
/// It waits for the addresses of windows: 9.0 instructions for each HMMA in tiles of 128x128, at most 44 % of the peak, 28 in
/// tiles of 64x32, at most 14 %.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

using Rows = nvcuda::wmma::row_major;
using Columns = nvcuda::wmma::col_major;

/// y:(places, O) = windows . w:(kh kw I, O)
template <class Shape, int width, class T>
__global__ void __launch_bounds__(Shape::threads, 512 / Shape::threads)
    convolve_by_mma(Windows<T> windows, Source<T> w, T* y, bool pairs, Finish<T> finish) {
  using Block = MmaBlock<Shape, T, float, Rows, Rows>;
  DYNAMIC_SHARED(T, memory);
  const int m = static_cast<int>(blockIdx.x) * Shape::m, n = static_cast<int>(blockIdx.y) * Shape::n;
  Block block;
  block.multiply(memory, windows.cols,
                 RowsOfWindows<width, typename Block::TileA, Shape::threads, T>(windows, m),
                 RowsOfMatrix<width, typename Block::TileB, Shape::threads, T>{w, n});
  block.for_each_pair([&](int row, int col, float first, float second) {
    row += m, col += n;
    store_pair(y + std::int64_t{row} * w.cols + col, row < windows.rows ? w.cols - col : 0, pairs,
               finish(first, col), finish(second, col + 1));
  });
}

/// The pixels of dx that lie `stride` apart meet the same taps of the window: a phase, stride x stride in all.
struct Phases {
  int height, width;  // of dx
  int window_height, window_width, stride, padding;

  /// Along one dimension: pixels first, first + stride, ... of `extent`; taps tap, tap + stride, ... of `size`.
  struct Line {
    int first, pixels, tap, taps,
        begin;  // the pixel's window in dy begins `begin` from its number in the phase
  };
  __device__ Line line(int first, int extent, int size) const {
    const int tap = (first + padding) % stride, taps = tap < size ? (size - tap - 1) / stride + 1 : 0;
    return {first, first < extent ? (extent - first - 1) / stride + 1 : 0, tap, taps,
            (first + padding) / stride - taps + 1};
  }
  __device__ Line down() const { return line(static_cast<int>(blockIdx.z) / stride, height, window_height); }
  __device__ Line across() const { return line(static_cast<int>(blockIdx.z) % stride, width, window_width); }
};

/// Copies tiles of the weights of a phase, its taps from the last to the first: a row for (kh,kw,o), a column for each c,
/// from `col` on.
template <int width, class Tile, int threads, class T>
struct TurnedWeights {
  const T* w;
  const Phases& phases;
  Phases::Line down, across;
  const Windows<T>& windows;  // of dy: they number the taps
  int inputs, col;

  __device__ void operator()(const Tile& tile, int k) const {
    static_assert(!Tile::by_rows);
    for_each_place<Tile, threads>([&](int, int line, int element) {
      copy_piece<width>(tile.line(line, element), w, [&](int i) -> const T* {
        if (k + element + i >= windows.cols || col + line >= inputs) return nullptr;
        const typename Windows<T>::Tap tap = windows.tap(k + element + i);
        const int kh = down.tap + (down.taps - 1 - tap.h) * phases.stride;
        const int kw = across.tap + (across.taps - 1 - tap.w) * phases.stride;
        return w + ((kh * phases.window_width + kw) * inputs + col + line) * windows.channels + tap.c;
      });
    });
  }
};

/// dx:(pixels of a phase, I) = windows of dy . the turned w. A block's phase is blockIdx.z.
template <class Shape, int width, class T>
__global__ void __launch_bounds__(Shape::threads, 512 / Shape::threads)
    convolve_back_by_mma(Phases phases, Windows<T> windows, const T* w, int images, int inputs, T* dx,
                         bool pairs) {
  using Block = MmaBlock<Shape, T, float, Rows, Columns>;
  DYNAMIC_SHARED(T, memory);
  const int m = static_cast<int>(blockIdx.x) * Shape::m, n = static_cast<int>(blockIdx.y) * Shape::n;
  const Phases::Line down = phases.down(), across = phases.across();
  windows.down = down.pixels;
  windows.across = across.pixels;
  windows.taps_across = across.taps;
  windows.top = down.begin;
  windows.left = across.begin;
  windows.rows = images * down.pixels * across.pixels;
  windows.cols = down.taps * across.taps * windows.channels;
  if (m >= windows.rows) return;
  Block block;
  block.multiply(memory, windows.cols,
                 RowsOfWindows<width, typename Block::TileA, Shape::threads, T>(windows, m),
                 TurnedWeights<width, typename Block::TileB, Shape::threads, T>{w, phases, down, across,
                                                                                windows, inputs, n});
  block.for_each_pair([&](int row, int col, float first, float second) {
    row += m, col += n;
    if (row >= windows.rows) return;
    const int line = row / across.pixels, image = line / down.pixels;
    const int h = (line - image * down.pixels) * phases.stride + down.first;
    const int v = (row - line * across.pixels) * phases.stride + across.first;
    const std::int64_t pixel = (std::int64_t{image} * phases.height + h) * phases.width + v;
    store_pair(dx + pixel * inputs + col, inputs - col, pairs, narrow<T>(first), narrow<T>(second));
  });
}

/// sums:(groups, kh kw I, O) = windows^T . dy:(places, O), of each group of images. A block's group is blockIdx.z.
template <class Shape, int width, class T>
__global__ void __launch_bounds__(Shape::threads, 512 / Shape::threads)
    weigh_groups_by_mma(Windows<T> windows, Source<T> dy, float* sums) {
  using Block = MmaBlock<Shape, T, float, Columns, Rows>;
  DYNAMIC_SHARED(T, memory);
  const int m = static_cast<int>(blockIdx.x) * Shape::m, n = static_cast<int>(blockIdx.y) * Shape::n;
  const int image = static_cast<int>(blockIdx.z) * static_cast<int>(images_of_a_group);
  const int before = image * windows.down * windows.across;
  const std::int64_t most = images_of_a_group * windows.down * windows.across, left = windows.rows - before;
  windows.images += std::int64_t{image} * windows.height * windows.width * windows.channels;
  windows.rows = static_cast<int>(left < most ? left : most);
  dy.data += std::int64_t{before} * dy.ld;
  dy.rows = windows.rows;
  Block block;
  block.multiply(memory, windows.rows,
                 ColumnsOfWindows<width, typename Block::TileA, Shape::threads, T>(windows, m),
                 RowsOfMatrix<width, typename Block::TileB, Shape::threads, T>{dy, n});
  float* const to = sums + std::int64_t{blockIdx.z} * windows.cols * dy.cols;
  block.for_each_pair([&](int row, int col, float first, float second) {
    row += m, col += n;
    if (row >= windows.cols) return;
    if (col < dy.cols) to[std::int64_t{row} * dy.cols + col] = first;
    if (col + 1 < dy.cols) to[std::int64_t{row} * dy.cols + col + 1] = second;
  });
}

/// How many elements lie side by side at multiples of as many bytes, in lines of these channels.
template <class... Channels>
int width_of(std::initializer_list<const View*> views, Channels... channels) {
  const auto every = [&](int width) {
    const auto aligned = [&](const View* x) {
      return reinterpret_cast<std::uintptr_t>(x->memory) % static_cast<unsigned>(2 * width) == 0;
    };
    return ((channels % width == 0) && ...) && std::all_of(views.begin(), views.end(), aligned);
  };
  return every(8) ? 8 : every(2) ? 2 : 1;
}

/// One format of 16 bits with sums in FP32, a GPU that has mma.m16n8k16, numbers of 32 bits, and what a grid holds: 65535
/// blocks along y and z.
bool takes(std::initializer_list<const View*> views, const Slide& s, DType accumulate) {
  constexpr std::int64_t most_blocks = 65535, most_values = (1 << 29) - 1;  // below Windows::outside
  const DType format = (*views.begin())->dtype;
  if ((format != DType::f16 && format != DType::bf16) || accumulate != DType::f32 || architecture() < 80)
    return false;
  for (const View* x : views)
    if (x->dtype != format || x->size() == 0 || x->size() > most_values) return false;
  if (s.images * s.down * s.across > most_values || groups_of(s.images) > most_blocks ||
      s.window.stride * s.window.stride > most_blocks ||
      std::max(s.channels, s.outputs) > most_blocks * SmallShape::n)
    return false;
  detail::tell_way("mma");
  return true;
}

/// Calls run(Type<T>, Type<Shape>, width). Most convolutions of small models have few channels: only whole pieces are
/// worth a second shape.
template <class Run>
void with_kernel(DType format, int width, std::int64_t columns, Run&& run) {
  const auto with_width = [&]<class T>(Type<T> type) {
    if (width == 8 && columns > 64) return run(type, Type<BlockShape>(), std::integral_constant<int, 8>());
    if (width == 8) return run(type, Type<SmallShape>(), std::integral_constant<int, 8>());
    if (width == 2) return run(type, Type<SmallShape>(), std::integral_constant<int, 2>());
    return run(type, Type<SmallShape>(), std::integral_constant<int, 1>());
  };
  format == DType::f16 ? with_width(Type<__half>()) : with_width(Type<__nv_bfloat16>());
}

int to_int(std::int64_t n) { return static_cast<int>(n); }

template <class T>
Windows<T> windows_of(const View& x, const Slide& s) {
  const std::int64_t taps = s.window.height * s.window.width;
  return {.images = static_cast<const T*>(x.memory),
          .height = to_int(s.height),
          .width = to_int(s.width),
          .channels = to_int(s.channels),
          .down = to_int(s.down),
          .across = to_int(s.across),
          .taps_across = to_int(s.window.width),
          .stride = to_int(s.window.stride),
          .top = -to_int(s.window.padding),
          .left = -to_int(s.window.padding),
          .rows = to_int(s.images * s.down * s.across),
          .cols = to_int(taps * s.channels)};
}

template <class T>
Source<T> matrix_of(const View& x, std::int64_t rows, std::int64_t cols) {
  return {static_cast<const T*>(x.memory), to_int(cols), to_int(rows), to_int(cols)};
}

}  // namespace

bool conv2d_on_tensor_cores(const View& x, const View& w, const Window& window, const View& y,
                            DType accumulate, Epilogue& rest) {
  const Slide s(x.shape, window, y.shape);
  if (!takes({&x, &w, &y}, s, accumulate)) return false;
  const std::pair<const void*, bool> after = taken_from(rest, y);
  with_kernel(y.dtype, width_of({&x, &w}, s.channels, s.outputs), s.outputs,
              [&]<class T, class Shape, int width>(Type<T>, Type<Shape>, std::integral_constant<int, width>) {
                const Windows<T> windows = windows_of<T>(x, s);
                const Source<T> weights = matrix_of<T>(w, windows.cols, s.outputs);
                launch<convolve_by_mma<Shape, width, T>>(
                    dim3(blocks(windows.rows, Shape::m), blocks(weights.cols, Shape::n)), Shape::threads,
                    MmaBlock<Shape, T, float, Rows, Rows>::shared_bytes, stream(), windows, weights,
                    static_cast<T*>(y.memory), width_of({&y}, s.outputs) > 1,
                    Finish<T>{static_cast<const T*>(after.first), weights.cols, after.second});
              });
  return true;
}

bool conv2d_dx_on_tensor_cores(const View& dy, const View& w, const Window& window, const View& dx,
                               DType accumulate) {
  const Slide s(dx.shape, window, dy.shape);
  if (!takes({&dy, &w, &dx}, s, accumulate)) return false;
  const auto of_a_phase = [&](std::int64_t extent) { return (extent - 1) / window.stride + 1; };
  const int rows = to_int(s.images * of_a_phase(s.height) * of_a_phase(s.width));
  with_kernel(dx.dtype, width_of({&dy, &w}, s.outputs), s.channels,
              [&]<class T, class Shape, int width>(Type<T>, Type<Shape>, std::integral_constant<int, width>) {
                const Phases phases{to_int(s.height),     to_int(s.width),       to_int(window.height),
                                    to_int(window.width), to_int(window.stride), to_int(window.padding)};
                const Windows<T> windows{
                    .images = static_cast<const T*>(dy.memory),  // what is left, a phase says
                    .height = to_int(s.down),
                    .width = to_int(s.across),
                    .channels = to_int(s.outputs),
                    .stride = 1};
                launch<convolve_back_by_mma<Shape, width, T>>(
                    dim3(blocks(rows, Shape::m), blocks(to_int(s.channels), Shape::n),
                         static_cast<unsigned>(window.stride * window.stride)),
                    Shape::threads, MmaBlock<Shape, T, float, Rows, Columns>::shared_bytes, stream(), phases,
                    windows, static_cast<const T*>(w.memory), to_int(s.images), to_int(s.channels),
                    static_cast<T*>(dx.memory), width_of({&dx}, s.channels) > 1);
              });
  return true;
}

bool conv2d_dw_on_tensor_cores(const View& x, const View& dy, const Window& window, const View& dw,
                               float* sums, DType accumulate) {
  const Slide s(x.shape, window, dy.shape);
  if (!takes({&x, &dy, &dw}, s, accumulate)) return false;
  with_kernel(dw.dtype, width_of({&x, &dy}, s.channels, s.outputs), s.outputs,
              [&]<class T, class Shape, int width>(Type<T>, Type<Shape>, std::integral_constant<int, width>) {
                const Windows<T> windows = windows_of<T>(x, s);
                launch<weigh_groups_by_mma<Shape, width, T>>(
                    dim3(blocks(windows.cols, Shape::m), blocks(to_int(s.outputs), Shape::n),
                         static_cast<unsigned>(groups_of(s.images))),
                    Shape::threads, MmaBlock<Shape, T, float, Columns, Rows>::shared_bytes, stream(), windows,
                    matrix_of<T>(dy, windows.rows, s.outputs), sums);
              });
  return true;
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
