#include <kernels/numerics/tensor_core.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

/// The four steps of tensor_core.h.
namespace tinymp::kernels {
namespace {

constexpr int most_terms = 32;
constexpr float infinity = std::numeric_limits<float>::infinity();
const float hardware_nan = std::bit_cast<float>(0x7fff'ffffu);

/// (-1)^negative significand 2^(exponent - 23), the significand below 2^24.
struct Parts {
  bool negative;
  int exponent;
  std::uint64_t significand;
};

/// A subnormal gets the format's smallest exponent and leading zeros.
Parts take_apart(float x, int smallest_exponent) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto field = static_cast<int>(bits >> 23 & 0xff);
  Parts parts{bits >> 31 != 0, std::max(field, 1) - 127, (bits & 0x7f'ffff) | (field > 0 ? 1u << 23 : 0u)};
  if (parts.exponent < smallest_exponent) {  // what is shifted out is 0 in a number of the format
    parts.significand >>= std::min(smallest_exponent - parts.exponent, 63);
    parts.exponent = smallest_exponent;
  }
  return parts;
}

/// (-1)^negative significand 2^(exponent - 46).
struct Term {
  bool negative;
  int exponent;
  std::uint64_t significand;
};

class Block {
 public:
  void add_product(float x, float y, int smallest_exponent) {
    const Parts p = take_apart(x, smallest_exponent), q = take_apart(y, smallest_exponent);
    add({p.negative != q.negative, p.exponent + q.exponent, p.significand * q.significand});
  }
  void add_number(float x) {
    const Parts p = take_apart(x, -126);
    add({p.negative, p.exponent, p.significand << 23});
  }

  /// Steps 2 and 3: the sum in units of 2^(largest_exponent() - fraction_bits).
  std::int64_t sum(int fraction_bits) const {
    std::int64_t total = 0;
    for (int i = 0; i < count_; ++i) {
      const Term& term = terms_[static_cast<std::size_t>(i)];
      const int drop = std::min(46 - fraction_bits + largest_exponent_ - term.exponent, 63);
      const auto kept = static_cast<std::int64_t>(term.significand >> drop);
      total += term.negative ? -kept : kept;
    }
    return total;
  }
  int largest_exponent() const { return largest_exponent_; }

 private:
  void add(const Term& term) {
    if (term.significand == 0) return;
    terms_[static_cast<std::size_t>(count_++)] = term;
    largest_exponent_ = std::max(largest_exponent_, term.exponent);
  }

  std::array<Term, most_terms + 1> terms_;
  int count_ = 0;
  int largest_exponent_ = -1000;  // below every term's
};

/// The FP32 number of sum 2^unit, cut off `kept_bits` after its leading one.
float cut_off(std::int64_t sum, int unit, int kept_bits) {
  auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  const int exponent = static_cast<int>(std::bit_width(magnitude)) - 1 + unit;
  const int drop = std::max(std::max(exponent, -126) - kept_bits - unit, 0);
  magnitude = drop < 64 ? magnitude >> drop : 0;
  const float d = exponent > 127 ? infinity : std::ldexp(static_cast<float>(magnitude), unit + drop);
  return sum < 0 ? -d : d;
}

float round_sum(const TensorCore& core, std::int64_t sum, int unit) {
  if (sum == 0) return 0;
  if (core.accumulator == Accumulator::f32) return cut_off(sum, unit, std::min(core.fraction_bits, 23));
  return static_cast<float>(half_from_double(std::ldexp(static_cast<double>(sum), unit)));
}

/// d when a term is infinite or NaN; 0 when none is.
float special(const float* a, const float* b, int n, float c) {
  float d = std::isfinite(c) ? 0 : c;
  for (int k = 0; k < n; ++k)
    if (!std::isfinite(a[k]) || !std::isfinite(b[k])) d += a[k] * b[k];
  return std::isnan(d) ? hardware_nan : d;
}

float multiply_block(const TensorCore& core, const float* a, const float* b, int n, float c) {
  if (const float d = special(a, b, n, c); d != 0) return d;  // NaN too
  Block block;
  for (int k = 0; k < n; ++k) block.add_product(a[k], b[k], core.smallest_exponent);
  block.add_number(c);
  return round_sum(core, block.sum(core.fraction_bits), block.largest_exponent() - core.fraction_bits);
}

/// 32 products of FP8 as two blocks of FP16, two and two by turns.
float multiply_as_fp16(const TensorCore& core, const float* a, const float* b, int n, float c) {
  std::array<float, 16> x[2] = {}, y[2] = {};
  for (int k = 0; k < n; ++k) {
    const int block = k / 2 % 2, place = k / 4 * 2 + k % 2;
    x[block][static_cast<std::size_t>(place)] = a[k];
    y[block][static_cast<std::size_t>(place)] = b[k];
  }
  const float first = multiply_block(core, x[0].data(), y[0].data(), 16, 0);
  const float d = multiply_block(core, x[1].data(), y[1].data(), 16, first) + c;
  if (d != d) return hardware_nan;
  return core.accumulator == Accumulator::f32 ? d : static_cast<float>(half(d));
}

}  // namespace

float tensor_core_dot(const TensorCore& core, const float* a, const float* b, std::int64_t n, float c) {
  const auto multiply = core.as_fp16 ? multiply_as_fp16 : multiply_block;
  const std::int64_t step = core.as_fp16 ? 32 : core.terms;
  for (std::int64_t k = 0; k < n; k += step)
    c = multiply(core, a + k, b + k, static_cast<int>(std::min(step, n - k)), c);
  return c;
}

}  // namespace tinymp::kernels
