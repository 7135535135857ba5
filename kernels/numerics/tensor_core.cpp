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
  void add_product(float x, int smallest_of_x, float y, int smallest_of_y) {
    const Parts p = take_apart(x, smallest_of_x), q = take_apart(y, smallest_of_y);
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
  for (int k = 0; k < n; ++k)
    block.add_product(a[k], core.smallest_exponent, b[k], core.smallest_exponent_of_b);
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

// The same for tiles.
// -----------------------------------------------------------------------------------------------

constexpr int most_rows_of_tile = 16, most_terms_of_tile = 32;
constexpr int exponent_of_zero = -4000;  // that of a product with it lies below all others, too

/// Rows of numbers in parts, the signs with the significands.
struct Rows {
  std::array<std::int64_t, most_rows_of_tile * most_terms_of_tile> significand;
  std::array<int, most_rows_of_tile * most_terms_of_tile> exponent;
  std::array<bool, most_rows_of_tile> finite, zero;  // all numbers of a row

  Rows(const float* x, int rows, int K, int smallest_exponent) {
    finite.fill(true);
    zero.fill(true);
    for (int i = 0; i < rows * K; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const Parts parts = take_apart(x[i], smallest_exponent);
      const auto magnitude = static_cast<std::int64_t>(parts.significand);
      significand[at] = parts.negative ? -magnitude : magnitude;
      exponent[at] = magnitude == 0 ? exponent_of_zero : parts.exponent;
      const auto row = static_cast<std::size_t>(i / K);
      if (!std::isfinite(x[i])) finite[row] = false;
      if (magnitude != 0) zero[row] = false;
    }
  }
};

/// A number of parts, without what `drop` bits hold: towards 0. (A zero may say anything of bits.)
std::int64_t without(std::int64_t significand, int drop) {
  const std::int64_t sign = significand >> 63;  // 0 or -1
  return (((significand ^ sign) - sign) >> std::clamp(drop, 0, 63) ^ sign) - sign;
}

/// multiply_block() for finite terms: those of a from `i` on, those of b from `j` on.
float multiply_rows(const TensorCore& core, const Rows& a, std::size_t i, const Rows& b, std::size_t j,
                    std::size_t n, float c) {
  const Parts parts = take_apart(c, -126);
  int largest = parts.significand == 0 ? -1000 : parts.exponent;
  for (std::size_t k = 0; k < n; ++k) largest = std::max(largest, a.exponent[i + k] + b.exponent[j + k]);
  const int to_unit = 46 - core.fraction_bits + largest;
  const auto own = static_cast<std::int64_t>(parts.significand << 23);
  std::int64_t sum = without(parts.negative ? -own : own, to_unit - parts.exponent);
  for (std::size_t k = 0; k < n; ++k) {
    sum +=
        without(a.significand[i + k] * b.significand[j + k], to_unit - a.exponent[i + k] - b.exponent[j + k]);
  }
  return round_sum(core, sum, largest - core.fraction_bits);
}

}  // namespace

float tensor_core_dot(const TensorCore& core, const float* a, const float* b, std::int64_t n, float c) {
  const auto multiply = core.as_fp16 ? multiply_as_fp16 : multiply_block;
  const std::int64_t step = core.as_fp16 ? 32 : core.terms;
  for (std::int64_t k = 0; k < n; k += step)
    c = multiply(core, a + k, b + k, static_cast<int>(std::min(step, n - k)), c);
  return c;
}

void tensor_core_tile(const TensorCore& core, const float* a, const float* b, float* d, int M, int N, int K) {
  const Rows left(a, M, K, core.smallest_exponent), right(b, N, K, core.smallest_exponent_of_b);
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      const auto row = static_cast<std::size_t>(m), column = static_cast<std::size_t>(n);
      float& c = d[m * N + n];
      if (core.as_fp16 || !left.finite[row] || !right.finite[column] || std::isnan(c)) {
        c = tensor_core_dot(core, a + m * K, b + n * K, K, c);
        continue;
      }
      const bool no_terms = left.zero[row] || right.zero[column];    // what a tile is filled up with
      for (int k = 0; k < K && std::isfinite(c); k += core.terms) {  // infinity plus finite terms is itself
        const int terms = no_terms ? 0 : std::min(core.terms, K - k);
        c = multiply_rows(core, left, static_cast<std::size_t>(m * K + k), right,
                          static_cast<std::size_t>(n * K + k), static_cast<std::size_t>(terms), c);
      }
    }
  }
}

}  // namespace tinymp::kernels
