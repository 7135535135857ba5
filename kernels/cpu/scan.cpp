#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>
#include <bit>

/// Looking at gradients without changing them, and what follows for S and for their factor.
namespace tinymp::kernels::cpu {
namespace {

/// Classifies magnitudes by their bits: with the sign shifted out, formats order like unsigned integers.
template <class Bits, class T>
GradientScan scan_bits(const T* values, std::int64_t n, Bits smallest_normal, Bits infinity) {
  static_assert(sizeof(Bits) == sizeof(T));
  GradientScan found{.values = n, .nonfinite = 0, .zeros = 0, .subnormals = 0};
  for (std::int64_t i = 0; i < n; ++i) {
    const Bits magnitude = static_cast<Bits>(std::bit_cast<Bits>(values[i]) << 1) >> 1;
    found.nonfinite += magnitude >= infinity;
    found.zeros += magnitude == 0;
    found.subnormals += magnitude != 0 && magnitude < smallest_normal;
  }
  return found;
}

GradientScan scan(const View& gradients) {
  return sum_of_chunks<GradientScan>(gradients.size(), [&](std::int64_t begin, std::int64_t n) {
    switch (gradients.dtype) {
      case DType::f16:
        return scan_bits<std::uint16_t>(gradients.data<half>() + begin, n, 0x0400, 0x7c00);
      case DType::bf16:
        return scan_bits<std::uint16_t>(gradients.data<bfloat16>() + begin, n, 0x0080, 0x7f80);
      case DType::f32:
        return scan_bits<std::uint32_t>(gradients.data<float>() + begin, n, 0x0080'0000, 0x7f80'0000);
      case DType::f64:
        break;
    }
    return scan_bits<std::uint64_t>(gradients.data<double>() + begin, n, 0x0010'0000'0000'0000,
                                    0x7ff0'0000'0000'0000);
  });
}

double sum_of_squares(const View& x, float factor) {
  return sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> in;
    const float* values = load(x, begin, n, in);
    LaneSum<double> lanes;
    for (std::int64_t i = 0; i < n; ++i) {
      const double v = static_cast<double>(values[i] * factor);
      lanes.add(i, v * v);
    }
    return lanes.total();
  });
}

}  // namespace

void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientScan> found,
             Cell<float> factor) {
  *found.memory = scan(gradients);
  *factor.memory = true_factor(*scale.memory);
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  *norm.data<float>() = clip_factor(sum_of_squares(x, *factor.memory), max_norm, *factor.memory);
}

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
    for (std::int64_t i = 0; i < n; ++i) {
      found.values += b[i] != 0;
      found.flushed += b[i] != 0 && a[i] == 0;
    }
    return found;
  });
}

}  // namespace tinymp::kernels::cpu
