#include <kernels/cpu/block.h>
#include <kernels/executors.h>
#include <kernels/formulas/float8.h>
#include <atomic>

namespace tinymp::kernels::cpu {

void quantize(const View& x, const Quantization& how, const std::optional<Cell<const float>>& scale,
              const View& step, const View& y) {
  expect(x.dtype != DType::f64, "quantize: x is f64; cast() it to f32 first");
  const float by = scale ? *scale->memory : 1;
  const RandomWords words = RandomWords::of(how, step.memory == nullptr ? 0 : *step.data<double>());
  visit_float8(y.dtype, [&]<class T> {
    for_blocks<float>(
        y.size(),
        [&](std::int64_t begin, std::int64_t n) {
          Block<float> in;
          const auto count = static_cast<std::size_t>(n);
          tinymp::quantize(std::span<const float>(load(x, begin, n, in), count), by, how, words, begin,
                           std::span<T>(y.data<T>() + begin, count));
        },
        x);
  });
}

namespace {

std::uint32_t largest_magnitude(const View& x, std::uint32_t of_nan) {
  std::atomic<std::uint32_t> top = 0;
  for_blocks<float>(
      x.size(),
      [&](std::int64_t begin, std::int64_t n) {
        Block<float> in;
        std::uint32_t found = 0;
        on_best_isa([values = load(x, begin, n, in), n, of_nan, out = &found] {
          std::uint32_t most = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const std::uint32_t counted = magnitude_bits(values[i], of_nan);
            most = most > counted ? most : counted;
          }
          *out = most;
        });
        std::uint32_t before = top.load(std::memory_order_relaxed);
        while (before < found && !top.compare_exchange_weak(before, found, std::memory_order_relaxed)) {
        }
      },
      x);
  return top.load();
}

}  // namespace

void raise_amax(const View& x, Cell<float> largest) {
  if (x.size() == 0) return;
  const float found = std::bit_cast<float>(largest_magnitude(x, nan_ignored));
  if (found > *largest.memory) *largest.memory = found;
}

void amax(const View& x, Cell<float> largest) {
  *largest.memory = 0;
  cpu::raise_amax(x, largest);
}

void amax_or_nan(const View& x, Cell<float> largest) {
  *largest.memory = std::bit_cast<float>(largest_magnitude(x, nan_wins));
}

void current_scale(TensorScaling how, float largest, Cell<const float> amax, Cell<float> scale) {
  *scale.memory = current_scale_of(how, largest, *amax.memory);
}

void move_delayed_scales(const DelayedScaling& policy, const View& amax, const View& history,
                         const View& next, const View& scale) {
  const DelayedScales scales{policy, amax.data<float>(), history.data<float>(), next.data<double>(),
                             scale.data<float>()};
  for (std::int64_t i = 0; i < amax.size(); ++i) scales.move(i);
}

}  // namespace tinymp::kernels::cpu
