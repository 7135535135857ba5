#include <kernels/cpu/chunk_squares.h>
#include <kernels/cpu/reduce.h>
#include <kernels/formulas/clip.h>

namespace tinymp::kernels::cpu {

void chunk_squares(const View& x, float factor, const View& sums) {
  parallel_for(sums.size(), std::max<std::int64_t>(1, grain / lane_chunk),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t c = first; c < last; ++c) {
                   Block<float> in;
                   const std::int64_t begin = c * lane_chunk, n = std::min(lane_chunk, x.size() - begin);
                   sums.data<double>()[c] =
                       lane_sum<double>(n, [values = load(x, begin, n, in), by = factor](std::int64_t i) {
                         const double v = static_cast<double>(values[i] * by);
                         return v * v;
                       });
                 }
               });
}

void clip_by_chunks(const View& sums, float max_norm, Cell<float> factor, const View& norm) {
  const double squares =
      sum_in_lanes<double>(sums.size(), [all = sums.data<double>()](std::int64_t c) { return all[c]; });
  *norm.data<float>() = clip_factor(squares, max_norm, *factor.memory);
}

}  // namespace tinymp::kernels::cpu
