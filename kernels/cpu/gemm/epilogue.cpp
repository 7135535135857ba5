#include <kernels/cpu/block.h>
#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/cpu/rows.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {
namespace {

/// Sum, bias and activation of `count` values from place `at` of c on, each rounded to c's format, or the last alone.
void finish_values(float* sums, std::int64_t count, const float* bias, const Ending& how, const View& c,
                   std::int64_t at) {
  const DType between = how.rounds_once ? DType::f32 : c.dtype;
  multiply_sums(how.factor, sums, count);
  if (bias != nullptr) {
    round_to(between, sums, count);
    for_each_value<float>(count, [=](std::int64_t i) { sums[i] += bias[i]; });
  }
  if (how.after.activation) {
    round_to(between, sums, count);
    visit_unary(*how.after.activation, [&]<class F> {
      for_each_value<float>(count, [=](std::int64_t i) { sums[i] = F::forward(sums[i]); });
    });
  }
  store<float>(sums, c, at, count);
}

}  // namespace

void multiply_sums(const ProductFactor& factor, float* sums, std::int64_t count) {
  if (factor.factor == 1 && factor.power == 1) return;
  for_each_value<float>(count, [=](std::int64_t i) { sums[i] = factor.times(sums[i]); });
}

Ending ending(const Epilogue& after, const View& a) {
  const auto cell = [](const std::optional<Cell<const float>>& scale) {
    return scale ? scale->memory : nullptr;
  };
  return {after, !has_arithmetic(a.dtype),
          product_factor(cell(after.float8.scale_a), cell(after.float8.scale_b))};
}

void finish(float* sums, std::int64_t stride, std::int64_t rows, std::int64_t columns, const Ending& how,
            const View& c, std::int64_t m, std::int64_t n) {
  const Epilogue& after = how.after;
  const bool biased = after.bias.memory != nullptr;
  const bool in_place = c.dtype == DType::f32 && sums == c.data<float>() + m * c.cols() + n;
  if (in_place && !biased && !after.activation && how.factor.factor == 1 && how.factor.power == 1) return;
  // Contiguous short rows are finished several at a time.
  const bool joined = stride == columns && c.cols() == columns;
  const std::int64_t height = joined ? rows_in_block(columns) : 1;
  Block<float> wide;
  for (std::int64_t i = 0; i < columns; i += block_size) {
    const std::int64_t count = std::min(block_size, columns - i);
    const float* bias = biased ? load(after.bias, n + i, count, wide) : nullptr;
    if (biased && height > 1) {
      if (bias != wide.data()) std::copy_n(bias, count, wide.data());
      repeat(wide.data(), count, std::min(height, rows));
      bias = wide.data();
    }
    for (std::int64_t r = 0; r < rows; r += height) {
      finish_values(sums + r * stride + i, std::min(height, rows - r) * count, bias, how, c,
                    (m + r) * c.cols() + n + i);
    }
  }
}

void finish(const Epilogue& after, const View& c) {
  if (after.bias.memory != nullptr) cpu::add_bias(c, after.bias, c);
  if (after.activation) cpu::unary(*after.activation, c, c);
}

}  // namespace tinymp::kernels::cpu
