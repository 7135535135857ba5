#include <kernels/cpu/conv/conv_planes.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>

namespace tinymp::kernels::cpu {
namespace {

constexpr std::int64_t long_row = 128;  ///< pixels of a long row: it holds as many images as fit

/// Images side by side: pixel w of row h, channel c, image i lies at (h channels + c) length + i frame + w -
/// left.
struct Planes {
  std::int64_t height, width, channels;
  std::int64_t frame, left;  ///< width of an image in a long row, and its first pixel
  std::int64_t length;

  /// Copies image number `image` of x there as the i-th. The rest of its frame remains 0.
  void put(const View& x, std::int64_t image, std::int64_t i, float* wide, float* planes) const {
    const std::int64_t first = std::max<std::int64_t>(0, left), last = std::min(width, left + frame);
    const std::int64_t values = width * channels;
    if (first >= last) return;
    for (std::int64_t h = 0; h < height; ++h) {
      const float* from = x.data<float>() + (image * height + h) * values;
      if (x.dtype != DType::f32) {
        copy_block({x.memory, x.dtype, values}, image * height + h, 1, 0, values, wide, 0);
        from = wide;
      }
      transpose_block(from + first * channels, channels, last - first, channels,
                      planes + h * channels * length + i * frame + first - left, length);
    }
  }
};

/// Computes row h of y for all images side by side. The rows of `work` are outputs, its columns pixels.
void multiply_row(const Tile& tile, TileWork work, const Planes& p, const Taps& taps, std::int64_t h,
                  const float* planes) {
  const std::int64_t top = taps.top + h, first = std::max<std::int64_t>(0, -top);
  const std::int64_t inside = std::max<std::int64_t>(0, std::min(taps.height, p.height - top) - first);
  const std::int64_t outputs = work.rows, columns = work.columns;
  if (inside == 0) {  // all windows lie in the padding
    std::fill_n(work.c, outputs * work.c_row, 0.0f);
    return;
  }
  const std::int64_t row = taps.width * p.channels * outputs;  // of the taps
  const bool one_plane = p.channels == 1;
  // A tile has two loops, and taps have three: rows, columns and channels. A single plane has no loop over
  // channels. Otherwise each row of taps continues the sums of the last one.
  work.b_row = one_plane ? 1 : p.length;
  work.b_skip = one_plane ? p.length - taps.width : 1 - p.channels * p.length;
  work.k = one_plane ? Walk{inside, row, taps.width, outputs}
                     : Walk{taps.width, p.channels * outputs, p.channels, outputs};
  for (std::int64_t kh = first; kh < first + (one_plane ? 1 : inside); ++kh) {
    work.a = taps.values + kh * row;
    work.b = planes + (top + kh) * p.channels * p.length;
    work.from_zero = kh == first;
    multiply_all(tile, work, outputs, columns);
  }
}

}  // namespace

void conv2d_in_planes(const View& x, const Taps& taps, const Shape& y, const RowsOfPixels& rows,
                      DType accumulate) {
  const std::int64_t images = y[0], down = y[1], across = y[2], outputs = y[3];
  const std::int64_t frame = across + taps.width - 1;
  const std::int64_t together = std::clamp<std::int64_t>(long_row / frame, 1, images);
  const Planes p{x.shape[1], x.shape[2], x.shape[3], frame, taps.left, together * frame};
  const std::int64_t columns = p.length - taps.width + 1;
  const Tile& tile = best_tile();
  const std::int64_t cost = down * columns * outputs * taps.height * taps.width * p.channels;
  const std::int64_t groups = (images + together - 1) / together;
  parallel_for(groups, images_at_a_time(groups, cost), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t size = p.height * p.channels * p.length;
    const Scratch<float> planes(size), wide(x.dtype == DType::f32 ? 0 : p.width * p.channels);
    const Scratch<float> sums(outputs * columns), beside(rows.beside());
    std::fill_n(planes.data(), size, 0.0f);
    TileWork work;
    work.a_row = 1;
    work.c = sums.data();
    work.c_row = columns;
    work.rows = static_cast<int>(outputs);
    work.half_sums = accumulate == DType::f16;
    for (std::int64_t group = first; group < last; ++group) {
      const std::int64_t begin = group * together, count = std::min(together, images - begin);
      work.columns = static_cast<int>(count * frame - taps.width + 1);
      for (std::int64_t i = 0; i < count; ++i) p.put(x, begin + i, i, wide.data(), planes.data());
      for (std::int64_t h = 0; h < down; ++h) {
        multiply_row(tile, work, p, taps, h, planes.data());
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t row = (begin + i) * down + h;
          float* to = rows.sums(row, beside.data());
          transpose_block(sums.data() + i * frame, columns, outputs, across, to, outputs);
          rows.finish_row(row, to);
        }
      }
    }
  });
}

}  // namespace tinymp::kernels::cpu
