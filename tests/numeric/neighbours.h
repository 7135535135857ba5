#pragma once

#include <tests/numeric/small_float_oracle.h>
#include <tinymp/numeric/float4.h>
#include <tinymp/numeric/half.h>

/// Rounding said by value, and nothing shared with small_float_codec.h: the numbers of a format are a table of
/// doubles, and a result is one of the two neighbours in it.
namespace tinymp::test {

inline constexpr Spec half_spec{"half", 5, 10, 15, true, 65504, 0x7e00};
inline constexpr Spec e2m1_spec{"float4_e2m1", 2, 1, 1, false, 6, 0x7};

/// body.operator()<T>(spec) for each format that rounds: 16, 8 and 4 bits.
template <class Body>
void for_each_rounded_format(Body&& body) {
  body.template operator()<half>(half_spec);
  for_each_small_format(body);
  body.template operator()<float4_e2m1>(e2m1_spec);
}

class Neighbours {
 public:
  explicit Neighbours(const Spec& spec) : spec_(spec) {
    for (unsigned code = 0; code < codes_of(spec) / 2; ++code) {
      if (!is_e2m1() && !(value_of_code(spec, code) <= spec.largest)) break;
      values_.push_back(is_e2m1() ? e2m1_values[code] : value_of_code(spec, code));
    }
    values_.push_back(2 * values_.back() - values_[values_.size() - 2]);
  }

  /// The numbers from 0 to M, and behind them M + (M - the number before M).
  const std::vector<double>& values() const { return values_; }

  /// The index in values() of the largest one that is at most `size`, where that is below the last one.
  unsigned below(double size) const {
    const auto above = std::upper_bound(values_.begin(), values_.end(), size);
    return static_cast<unsigned>(above - values_.begin()) - 1;
  }

  /// True when |x| goes away from zero under stochastic rounding. R < floor(q) is R + 1 <= q for integers, so with
  /// q = 2^32 (|x| - lo) / (hi - lo) no quotient is needed. All three products are exact in double: they have at
  /// most 33 significant bits.
  bool moves_away(double size, std::uint32_t random) const {
    const unsigned at = below(size);
    const double lo = values_[at], hi = values_[at + 1];
    return (static_cast<double>(random) + 1) * (hi - lo) <= 0x1p32 * (size - lo);
  }

  unsigned code(float x, Rounding mode, std::uint32_t random, Overflow overflow) const {
    if (x != x) return spec_.nan;
    const double size = std::fabs(static_cast<double>(x));
    const bool negative = std::signbit(x);
    const auto past_all = static_cast<unsigned>(values_.size() - 1);
    if (std::isinf(x)) return with_sign(past_all, negative, overflow);
    if (size >= values_.back())
      return with_sign(stops(mode, negative) ? past_all - 1 : past_all, negative, overflow);
    const unsigned at = below(size);
    unsigned result = at;
    if (size > values_[at] && away(size, at, negative, mode, random)) result += 1;
    if (result == past_all && stops(mode, negative)) result = past_all - 1;
    return with_sign(result, negative, overflow);
  }

 private:
  static constexpr double e2m1_values[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

  bool is_e2m1() const { return spec_.exponent_bits == 2; }
  static bool stops(Rounding mode, bool negative) {
    return mode == Rounding::toward_zero || mode == (negative ? Rounding::up : Rounding::down);
  }
  bool away(double size, unsigned at, bool negative, Rounding mode, std::uint32_t random) const {
    const double middle = (values_[at] + values_[at + 1]) / 2;
    switch (mode) {
      case Rounding::nearest_even:
        return size > middle || (size == middle && at % 2 == 1);
      case Rounding::stochastic:
        return moves_away(size, random);
      default:
        return mode == (negative ? Rounding::down : Rounding::up);
    }
  }
  unsigned with_sign(unsigned index, bool negative, Overflow overflow) const {
    const unsigned sign = negative ? codes_of(spec_) / 2 : 0;
    const auto past_all = static_cast<unsigned>(values_.size() - 1);
    if (index < past_all) return sign | index;
    if (overflow == Overflow::saturate || is_e2m1()) return sign | (past_all - 1);
    return spec_.has_infinity ? sign | past_all : spec_.nan;
  }

  Spec spec_;
  std::vector<double> values_;
};

}  // namespace tinymp::test
