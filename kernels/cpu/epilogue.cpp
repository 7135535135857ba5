#include <kernels/cpu/block.h>
#include <kernels/cpu/epilogue.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {
namespace {

/// Columns n .. n + count of one row: sum, bias, activation, each rounded to c's format.
void finish_row(float* sums, std::int64_t count, const float* bias, const Epilogue& after, const View& c,
                std::int64_t at) {
  if (bias != nullptr) {
    round_to(c.dtype, sums, count);
    for (std::int64_t i = 0; i < count; ++i) sums[i] += bias[i];
  }
  if (after.activation) {
    round_to(c.dtype, sums, count);
    visit_unary(*after.activation, [&]<class F> {
      for (std::int64_t i = 0; i < count; ++i) sums[i] = F::forward(sums[i]);
    });
  }
  store<float>(sums, c, at, count);
}

}  // namespace

void finish(float* sums, std::int64_t stride, std::int64_t rows, std::int64_t columns, const Epilogue& after,
            const View& c, std::int64_t m, std::int64_t n) {
  const bool biased = after.bias.memory != nullptr;
  if (!biased && !after.activation && sums == c.data<float>() + m * c.cols() + n) return;
  Block<float> wide;
  for (std::int64_t i = 0; i < columns; i += block_size) {
    const std::int64_t count = std::min(block_size, columns - i);
    const float* bias = biased ? load(after.bias, n + i, count, wide) : nullptr;
    for (std::int64_t r = 0; r < rows; ++r)
      finish_row(sums + r * stride + i, count, bias, after, c, (m + r) * c.cols() + n + i);
  }
}

void finish(const Epilogue& after, const View& c) {
  if (after.bias.memory != nullptr) cpu::add_bias(c, after.bias, c);
  if (after.activation) cpu::unary(*after.activation, c, c);
}

}  // namespace tinymp::kernels::cpu
