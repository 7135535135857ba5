#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>
#include <kernels/formulas/clip.h>
#include <bit>

/// Looking at gradients without changing them, and what follows for S and for their factor.
namespace tinymp::kernels::cpu {
namespace {

constexpr std::int64_t scan_length = 8 * block_size;  ///< values that are counted at a time

/// Classifies magnitudes by their bits: without the sign, formats order like unsigned integers, and the
/// highest bit of a difference says which is larger. The counts are as wide as the values, so that a register
/// works on as many as it holds; n is small enough for 16 bits.
template <class T>
GradientScan scan_bits(const T* values, std::int64_t n) {
  using Bits = BitsOf<T>;
  constexpr Bits smallest_normal = smallest_normal_bits<T>, infinity = nonfinite_bits<T>;
  GradientScan result{.values = n, .nonfinite = 0, .zeros = 0, .subnormals = 0};
  on_best_isa([=, out = &result] {
    constexpr int top = 8 * sizeof(Bits) - 1;
    Bits finite = 0, zeros = 0, small = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const Bits magnitude = std::bit_cast<Bits>(values[i]) & static_cast<Bits>(static_cast<Bits>(-1) >> 1);
      finite = static_cast<Bits>(finite + (static_cast<Bits>(magnitude - infinity) >> top));
      zeros = static_cast<Bits>(zeros + (static_cast<Bits>(magnitude - 1) >> top));
      small = static_cast<Bits>(small + (static_cast<Bits>(magnitude - smallest_normal) >> top));
    }
    out->nonfinite = n - static_cast<std::int64_t>(finite);
    out->zeros = static_cast<std::int64_t>(zeros);
    out->subnormals = static_cast<std::int64_t>(small) - out->zeros;
  });
  return result;
}

GradientScan scan(const View& gradients) {
  const auto piece = [&](std::int64_t begin, std::int64_t n) {
    return visit_dtype(gradients.dtype, [&]<class T> { return scan_bits(gradients.data<T>() + begin, n); });
  };
  return sum_of_chunks<GradientScan>(gradients.size(), piece, scan_length);
}

}  // namespace

// <exercise unscale_then_clip>
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientScan> found,
             Cell<float> factor) {
  *found.memory = scan(gradients);
  *factor.memory = true_factor(*scale.memory);
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  const double squares = sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> in;
    return lane_sum<double>(n, [values = load(x, begin, n, in), by = *factor.memory](std::int64_t i) {
      const double v = static_cast<double>(values[i] * by);
      return v * v;
    });
  });
  *norm.data<float>() = clip_factor(squares, max_norm, *factor.memory);
}
// </exercise unscale_then_clip>

void update_scale(const DynamicScaling& policy, Cell<const GradientScan> found, bool last,
                  Cell<ScaleState> state) {
  take_check(policy, found.memory->nonfinite > 0, last, *state.memory);
}

void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts) {
  *counts.memory += sum_of_chunks<FlushCounts>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> left, right;
    const float* a = load(x, begin, n, left);
    const float* b = load(shadow, begin, n, right);
    FlushCounts found;
    on_best_isa([=, out = &found] {
      std::int32_t values_found = 0, flushed = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t counts = b[i] != 0, vanished = a[i] == 0;
        values_found += counts;
        flushed += counts & vanished;
      }
      *out = {.values = values_found, .flushed = flushed};
    });
    return found;
  });
}

}  // namespace tinymp::kernels::cpu
