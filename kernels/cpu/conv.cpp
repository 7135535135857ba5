#include <kernels/cpu/conv/conv_planes.h>
#include <kernels/cpu/conv_reference.h>
#include <kernels/executors.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>

/// The fast convolution. It writes no matrix of windows. The pixels of a row of y are the rows of a register
/// tile, which walks through their windows in the padded image. Threads share out images.
namespace tinymp::kernels::cpu {
namespace {

/// The taps of one dimension whose kh has the same remainder modulo the stride: kh = first, first + stride,
/// ... A pixel of dx meets the taps of one phase.
struct Phase {
  std::int64_t first, taps;
};
Phase phase_of(std::int64_t first, std::int64_t size, std::int64_t stride) {
  return {first, first >= size ? 0 : (size - first - 1) / stride + 1};
}

/// The weights in the layout for dx: a matrix (taps O, I) for each of the stride x stride phases, its taps
/// from the last to the first.
class TurnedWeights {
 public:
  TurnedWeights(const View& w, const Window& window)
      : window_(window), inputs_(w.shape[2]), outputs_(w.shape[3]), memory_(w.size()) {
    Scratch<float> wide(size_if_narrow(w));
    const float* from = widened(w, wide.data());
    for (std::int64_t i = 0; i < window.stride * window.stride; ++i) {
      const Phase down = phase_of(i / window.stride, window.height, window.stride);
      const Phase across = phase_of(i % window.stride, window.width, window.stride);
      float* to = memory_.data() + begin(i);
      for (std::int64_t j = down.taps * across.taps - 1; j >= 0; --j) {
        const std::int64_t kh = down.first + j / across.taps * window.stride;
        const std::int64_t kw = across.first + j % across.taps * window.stride;
        transpose_block(from + (kh * window.width + kw) * inputs_ * outputs_, outputs_, inputs_, outputs_, to,
                        inputs_);
        to += inputs_ * outputs_;
      }
    }
  }

  const float* of(std::int64_t down, std::int64_t across) const {
    return memory_.data() + begin(down * window_.stride + across);
  }

 private:
  std::int64_t begin(std::int64_t phase) const {
    std::int64_t taps = 0;
    for (std::int64_t i = 0; i < phase; ++i) {
      taps += phase_of(i / window_.stride, window_.height, window_.stride).taps *
              phase_of(i % window_.stride, window_.width, window_.stride).taps;
    }
    return taps * inputs_ * outputs_;
  }

  Window window_;
  std::int64_t inputs_, outputs_;
  Scratch<float> memory_;
};

/// The frame of dy: it has a zero for every window that begins left of dy or ends right of it.
Frame frame_of_dy(const Slide& s) {
  const std::int64_t beside = (s.window.width - 1) / s.window.stride;
  return {beside, beside + (s.width - 1 + s.window.padding) / s.window.stride + 1};
}

/// Computes row h of dx, phase by phase across. Tap j of a phase meets row `last` - j of dy.
void row_of_dx(const Slide& s, const Tile& tile, const Padded& dy, const TurnedWeights& w, std::int64_t h,
               bool half_sums, float* sums) {
  const std::int64_t stride = s.window.stride, last = (h + s.window.padding) / stride;
  const Phase down = phase_of((h + s.window.padding) % stride, s.window.height, stride);
  const std::int64_t first_tap = std::min(down.taps - 1, last);
  const std::int64_t rows = first_tap - std::max<std::int64_t>(0, last - s.down + 1) + 1;
  for (std::int64_t v = 0; v < std::min(stride, s.width); ++v) {
    const Phase across = phase_of((v + s.window.padding) % stride, s.window.width, stride);
    const std::int64_t column = (v + s.window.padding) / stride + frame_of_dy(s).left - across.taps + 1;
    TileWork work;
    work.a = dy.values;  // when no tap meets dy, k is empty
    work.b = w.of(0, 0);
    work.b_row = s.channels;
    work.c = sums + v * s.channels;
    work.c_row = stride * s.channels;
    work.half_sums = half_sums;
    if (rows > 0 && across.taps > 0) {
      work.a = dy.values + (last - first_tap) * dy.row + column * s.outputs;
      work.a_row = s.outputs;
      work.k = {rows, dy.row, across.taps * s.outputs};
      work.b =
          w.of(down.first, across.first) + (down.taps - 1 - first_tap) * across.taps * s.outputs * s.channels;
    }
    multiply_all(tile, work, (s.width - v + stride - 1) / stride, s.channels);
  }
}

}  // namespace

void conv2d(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
            const Epilogue& after) {
  if (y.size() == 0) return;
  if (by_definition(y.dtype, accumulate)) return conv2d_reference(x, w, window, y, accumulate, after);
  const Slide s(x.shape, window, y.shape);
  const Frame frame{window.padding, s.width + 2 * window.padding};
  const RowsOfPixels rows(y, ending(after, x));
  const Tile& tile = best_tile();
  Scratch<float> wide(size_if_narrow(w));
  const float* weights = widened(w, wide.data());
  if (goes_in_planes(tile, window, s.outputs)) {
    const std::int64_t begin = -window.padding;
    return conv2d_in_planes(x, {weights, window.height, window.width, begin, begin}, y.shape, rows,
                            accumulate);
  }
  TileWork all;
  all.a_row = window.stride * s.channels;
  all.b_row = all.c_row = s.outputs;
  all.half_sums = accumulate == DType::f16;
  parallel_for(s.images, images_at_a_time(s.images, s.down * s.across * w.size()),
               [&](std::int64_t first, std::int64_t last) {
                 Scratch<float> memory(size_of_frame(x, frame)), beside(rows.beside());
                 TileWork work = all;
                 for (std::int64_t image = first; image < last; ++image) {
                   const Padded from = padded(x, image, frame, memory.data());
                   for (std::int64_t oh = 0; oh < s.down; ++oh) {
                     const std::int64_t top = oh * window.stride - window.padding;
                     const std::int64_t kh = std::max<std::int64_t>(0, -top);
                     const std::int64_t rows_inside = std::min(window.height, s.height - top) - kh;
                     work.k = {rows_inside, from.row, window.width * s.channels};
                     work.a = from.values + (top + kh) * from.row;
                     work.b = weights + kh * window.width * s.channels * s.outputs;
                     work.c = rows.sums(image * s.down + oh, beside.data());
                     multiply_all(tile, work, s.across, s.outputs);
                     rows.finish_row(image * s.down + oh, work.c);
                   }
                 }
               });
}

void conv2d_dx(const View& dy, const View& w, const Window& window, const View& dx, DType accumulate,
               const Float8Product& float8) {
  if (dx.size() == 0) return;
  if (by_definition(dx.dtype, accumulate)) return conv2d_dx_reference(dy, w, window, dx, accumulate);
  const Slide s(dx.shape, window, dy.shape);
  const Frame frame = frame_of_dy(s);
  const RowsOfPixels rows(dx, ending({.float8 = float8}, dy));
  const Tile& tile = best_tile();
  const TurnedWeights turned(w, window);
  if (goes_in_planes(tile, window, s.channels)) {
    const Taps taps{turned.of(0, 0), window.height, window.width, window.padding - window.height + 1,
                    window.padding - window.width + 1};
    return conv2d_in_planes(dy, taps, dx.shape, rows, accumulate);
  }
  parallel_for(s.images, images_at_a_time(s.images, s.down * s.across * w.size()),
               [&](std::int64_t first, std::int64_t last) {
                 Scratch<float> memory(size_of_frame(dy, frame)), beside(rows.beside());
                 for (std::int64_t image = first; image < last; ++image) {
                   const Padded from = padded(dy, image, frame, memory.data());
                   for (std::int64_t h = 0; h < s.height; ++h) {
                     float* sums = rows.sums(image * s.height + h, beside.data());
                     row_of_dx(s, tile, from, turned, h, accumulate == DType::f16, sums);
                     rows.finish_row(image * s.height + h, sums);
                   }
                 }
               });
}

}  // namespace tinymp::kernels::cpu
