#include <kernels/cpu/conv/conv_images.h>
#include <algorithm>

namespace tinymp::kernels::cpu {
namespace {

bool lies_as_wanted(const View& x, const Frame& frame) {
  return x.dtype == DType::f32 && frame.left == 0 && frame.width <= x.shape[2];
}

}  // namespace

std::int64_t size_of_frame(const View& x, const Frame& frame) {
  return lies_as_wanted(x, frame) ? 0 : x.shape[1] * frame.width * x.shape[3];
}

Padded padded(const View& x, std::int64_t image, const Frame& frame, float* memory) {
  const std::int64_t height = x.shape[1], width = x.shape[2], channels = x.shape[3];
  if (lies_as_wanted(x, frame))
    return {x.data<float>() + image * height * width * channels, width * channels};
  const std::int64_t row = frame.width * channels, before = frame.left * channels;
  const std::int64_t inside = std::min(width, frame.width - frame.left) * channels;
  for (std::int64_t h = 0; h < height; ++h) {
    float* to = memory + h * row;
    std::fill_n(to, before, 0.0f);
    copy_block({x.memory, x.dtype, width * channels}, image * height + h, 1, 0, inside, to + before, 0);
    std::fill_n(to + before + inside, row - before - inside, 0.0f);
  }
  return {memory, row};
}

const float* widened(const View& x, float* memory) {
  if (x.dtype == DType::f32) return x.data<float>();
  copy_block({x.memory, x.dtype, x.size()}, 0, 1, 0, x.size(), memory, 0);
  return memory;
}

RowsOfPixels::RowsOfPixels(const View& y, const Ending& how)
    : values(y.shape[2] * y.shape[3]),
      repeated_(how.after.bias.memory == nullptr ? 0 : values),
      rows{y.memory, y.dtype, y.device, {y.shape[0] * y.shape[1], values}},
      follows(how) {
  if (how.after.bias.memory == nullptr) return;
  const std::int64_t outputs = y.shape[3];
  for (std::int64_t i = 0; i < values; i += outputs)
    copy_block({how.after.bias.memory, y.dtype, outputs}, 0, 1, 0, outputs, repeated_.data() + i, 0);
  follows.after.bias = {repeated_.data(), DType::f32, y.device, {values}};
}

std::int64_t images_at_a_time(std::int64_t images, std::int64_t multiplications) {
  return images * multiplications <= alone ? std::max<std::int64_t>(images, 1) : 1;
}

std::int64_t even_share(std::int64_t rows, std::int64_t most) {
  const std::int64_t pieces = (rows + most - 1) / most;
  return (rows + pieces - 1) / std::max<std::int64_t>(pieces, 1);
}

void multiply_all(const Tile& tile, TileWork work, std::int64_t rows, std::int64_t columns) {
  const TileWork first = work;
  for (std::int64_t n = 0; n < columns; n += tile.columns) {
    work.columns = static_cast<int>(std::min<std::int64_t>(tile.columns, columns - n));
    work.b = first.b + n;
    const std::int64_t share = even_share(rows, tile.rows_for(work.columns));
    for (std::int64_t r = 0; r < rows; r += share) {
      work.rows = static_cast<int>(std::min(share, rows - r));
      work.a = first.a + r * first.a_row;
      work.c = first.c + r * first.c_row + n;
      tile.multiply(work);
    }
  }
}

}  // namespace tinymp::kernels::cpu
