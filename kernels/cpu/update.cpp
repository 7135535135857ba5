#include <kernels/cpu/cpu.h>
#include <kernels/cpu/reduce.h>

namespace tinymp::kernels::cpu {
namespace {

/// Classifies magnitudes by their bits: with the sign shifted out, formats order like unsigned integers.
template <class Bits>
GradientScan scan_bits(const Bits* bits, std::int64_t n, Bits smallest_normal, Bits infinity) {
  GradientScan found{.values = n, .nonfinite = 0, .zeros = 0, .subnormals = 0};
  for (std::int64_t i = 0; i < n; ++i) {
    const Bits magnitude = static_cast<Bits>(bits[i] << 1) >> 1;
    found.nonfinite += magnitude >= infinity;
    found.zeros += magnitude == 0;
    found.subnormals += magnitude != 0 && magnitude < smallest_normal;
  }
  return found;
}

/// Rounds values to a format and back.
void round_to(DType dtype, const float* in, float* out, std::int64_t n) {
  if (dtype == DType::f32) {
    std::copy(in, in + n, out);
    return;
  }
  Block<float> scratch;
  std::array<half, block_size> rounded;
  const auto count = static_cast<std::size_t>(n);
  convert(std::span<const float>(in, count), std::span<half>(rounded.data(), count));
  convert(std::span<const half>(rounded.data(), count), std::span<float>(scratch.data(), count));
  std::copy_n(scratch.begin(), n, out);
}

template <class Rule>
UpdateCounts update_block(Rule rule, const UpdateArenas& arenas, float factor, std::int64_t begin,
                          std::int64_t n) {
  Block<float> gradient_block, weight_block, exact, rounded, next;
  Block<float> moment_block[2] = {};
  const float* g = load(arenas.gradients, begin, n, gradient_block);
  const float* w = load(arenas.master, begin, n, weight_block);
  const int moments = rule.moment_count();

  for (int m = 0; m < moments; ++m) {
    const float* at = load(arenas.moments[m], begin, n, moment_block[m]);
    if (at != moment_block[m].data()) std::copy(at, at + n, moment_block[m].begin());
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    float state[2] = {moment_block[0][i], moment_block[1][i]};
    rule.moments(w[i], g[i] * factor, state);
    moment_block[0][i] = state[0];
    moment_block[1][i] = state[1];
  }
  for (int m = 0; m < moments; ++m) {
    round_to(arenas.moments[m].dtype, moment_block[m].data(), moment_block[m].data(), n);
    store<float>(moment_block[m].data(), arenas.moments[m], begin, n);
  }

  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const float state[2] = {moment_block[0][i], moment_block[1][i]};
    exact[i] = rule.update(w[i], g[i] * factor, state);
  }
  round_to(arenas.master.dtype, exact.data(), rounded.data(), n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) next[i] = w[i] - rounded[i];
  round_to(arenas.master.dtype, next.data(), next.data(), n);

  // 32-bit counts and no jumps: as wide as what is compared, so that the loop is vectorised.
  std::int32_t values = 0, underflowed = 0, absorbed = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::int32_t moves = exact[i] != 0, arrives = rounded[i] != 0, stays = next[i] == w[i];
    values += moves;
    underflowed += moves & (1 - arrives);
    absorbed += arrives & stays;
  }
  store<float>(next.data(), arenas.master, begin, n);
  if (arenas.weights.memory != arenas.master.memory) store<float>(next.data(), arenas.weights, begin, n);
  return {.values = values, .underflowed = underflowed, .absorbed = absorbed};
}

}  // namespace

GradientScan scan(const View& gradients) {
  return sum_of_chunks<GradientScan>(gradients.size(), [&](std::int64_t begin, std::int64_t n) {
    switch (gradients.dtype) {
      case DType::f16:
        return scan_bits<std::uint16_t>(gradients.data<std::uint16_t>() + begin, n, 0x0400, 0x7c00);
      case DType::f32:
        return scan_bits<std::uint32_t>(gradients.data<std::uint32_t>() + begin, n, 0x0080'0000, 0x7f80'0000);
      case DType::f64:
        break;
    }
    return scan_bits<std::uint64_t>(gradients.data<std::uint64_t>() + begin, n, 0x0010'0000'0000'0000,
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

std::int64_t count_flushed(const View& x, const View& shadow) {
  return sum_of_chunks<std::int64_t>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> left, right;
    const float* a = load(x, begin, n, left);
    const float* b = load(shadow, begin, n, right);
    std::int64_t flushed = 0;
    for (std::int64_t i = 0; i < n; ++i) flushed += a[i] == 0 && b[i] != 0;
    return flushed;
  });
}

UpdateCounts update(const UpdateRule& rule, const UpdateArenas& arenas, float factor) {
  return std::visit(
      [&](const auto& r) {
        return sum_of_chunks<UpdateCounts>(arenas.master.size(), [&](std::int64_t begin, std::int64_t n) {
          return update_block(r, arenas, factor, begin, n);
        });
      },
      rule);
}

}  // namespace tinymp::kernels::cpu
