#include <kernels/cpu/block.h>
#include <kernels/cpu/conv/conv_images.h>
#include <kernels/cpu/conv_reference.h>
#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/executors.h>
#include <kernels/formulas/conv.h>

/// The weight gradient. Its taps are the rows of a register tile, which walks over all places of the window.
/// Threads share out the groups of images.
namespace tinymp::kernels::cpu {
namespace {

/// dw is the sum of the groups' sums:(groups, n), added in order, times `factor`.
void add_groups(const float* sums, std::int64_t groups, const ProductFactor& factor, const View& dw,
                DType accumulate) {
  const std::int64_t n = dw.size();
  parallel_for((n + block_size - 1) / block_size, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t begin = first * block_size; begin < std::min(last * block_size, n);
         begin += block_size) {
      const std::int64_t count = std::min(block_size, n - begin);
      Block<float> total{};
      for (std::int64_t group = 0; group < groups; ++group) {
        float* const to = total.data();
        const float* const of_group = sums + group * n + begin;
        for_each_value<float>(count, [=](std::int64_t i) { to[i] += of_group[i]; });
        if (accumulate == DType::f16) round_to(DType::f16, to, count);
      }
      multiply_sums(factor, total.data(), count);
      store<float>(total.data(), dw, begin, count);
    }
  });
}

}  // namespace

void conv2d_dw(const View& x, const View& dy, const Window& window, const View& dw, DType accumulate,
               const Float8Product& float8) {
  const bool half_sums = accumulate == DType::f16;
  if (by_definition(dw.dtype, accumulate)) return conv2d_dw_reference(x, dy, window, dw, accumulate);
  const Slide s(x.shape, window, dy.shape);
  const Frame frame{window.padding, s.width + 2 * window.padding}, bare{0, s.across};
  const Tile& tile = best_tile();
  const std::int64_t groups = groups_of(s.images);
  Scratch<float> sums(groups * dw.size());
  TileWork all;
  all.a_row = 1;
  all.b_row = all.c_row = s.outputs;
  all.half_sums = half_sums;
  const auto add_image = [&](std::int64_t image, TileWork work, float* to, const Scratch<float>& memory,
                             const Scratch<float>& errors) {
    const Padded from = padded(x, image, frame, memory.data());
    const float* error = padded(dy, image, bare, errors.data()).values;
    for (std::int64_t kh = 0; kh < window.height; ++kh) {
      const std::int64_t above = std::max<std::int64_t>(0, window.padding - kh);
      const std::int64_t oh = (above + window.stride - 1) / window.stride;  // first row of windows inside
      const std::int64_t top = oh * window.stride + kh - window.padding;
      const std::int64_t inside = top < s.height ? (s.height - 1 - top) / window.stride + 1 : 0;
      work.k = {std::min(inside, s.down - oh), window.stride * from.row, s.across,
                window.stride * s.channels};
      work.a = from.values + top * from.row;
      work.b = error + oh * s.across * s.outputs;
      work.c = to + kh * window.width * s.channels * s.outputs;
      multiply_all(tile, work, window.width * s.channels, s.outputs);
    }
  };
  const std::int64_t cost = images_of_a_group * s.down * s.across * dw.size();
  parallel_for(groups, images_at_a_time(groups, cost), [&](std::int64_t first, std::int64_t last) {
    const Scratch<float> memory(size_of_frame(x, frame)), errors(size_of_frame(dy, bare));
    for (std::int64_t group = first; group < last; ++group) {
      const std::int64_t begin = group * images_of_a_group;
      TileWork work = all;
      for (std::int64_t image = begin; image < std::min(begin + images_of_a_group, s.images); ++image) {
        work.from_zero = image == begin;
        add_image(image, work, sums.data() + group * dw.size(), memory, errors);
      }
    }
  });
  add_groups(sums.data(), groups, ending({.float8 = float8}, x).factor, dw, accumulate);
}

}  // namespace tinymp::kernels::cpu
