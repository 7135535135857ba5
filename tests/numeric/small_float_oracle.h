#pragma once

#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

/// What the small formats are, said in ways that share nothing with small_float_codec.h: by value in double,
/// from the tables of the OCP specification (FP8) and of Intel's white paper (bfloat16).
namespace tinymp::test {

struct Spec {
  const char* name;
  int exponent_bits, fraction_bits, bias;
  bool has_infinity;
  double largest;
  unsigned nan;  ///< the one that comes out of conversions
};
inline constexpr Spec bfloat16_spec{"bfloat16", 8, 7, 127, true, 0x1.fep127, 0x7fc0};
inline constexpr Spec e4m3_spec{"float8_e4m3", 4, 3, 7, false, 448, 0x7f};
inline constexpr Spec e5m2_spec{"float8_e5m2", 5, 2, 15, true, 57344, 0x7e};

/// body.operator()<T>(spec) for each format.
template <class Body>
void for_each_small_format(Body&& body) {
  body.template operator()<bfloat16>(bfloat16_spec);
  body.template operator()<float8_e4m3>(e4m3_spec);
  body.template operator()<float8_e5m2>(e5m2_spec);
}

inline unsigned codes_of(const Spec& spec) { return 1u << (1 + spec.exponent_bits + spec.fraction_bits); }

/// The value of a code, from the formula.
inline double value_of_code(const Spec& spec, unsigned code) {
  const int f = spec.fraction_bits;
  const int fraction = static_cast<int>(code % (1u << f));
  const int exponent = static_cast<int>((code >> f) % (1u << spec.exponent_bits));
  const double sign = code >= codes_of(spec) / 2 ? -1 : 1;
  const bool top = exponent == (1 << spec.exponent_bits) - 1;
  if (spec.has_infinity && top)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (!spec.has_infinity && top && fraction == (1 << f) - 1) return std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - spec.bias - f);
  return sign * std::ldexp((1 << f) + fraction, exponent - spec.bias - f);
}

/// The code nearest to x: looked up among the values of all codes. Slow and obvious.
class NearestCode {
 public:
  explicit NearestCode(const Spec& spec) : spec_(spec) {
    for (unsigned code = 0; code < codes_of(spec) / 2; ++code) {
      if (!(value_of_code(spec, code) <= spec.largest)) break;
      values_.push_back(value_of_code(spec, code));
    }
    // What would follow the largest number if the format went on: from the middle of the two on, x is too
    // large.
    values_.push_back(2 * values_.back() - values_[values_.size() - 2]);
  }

  unsigned operator()(double x, Overflow overflow) const {
    if (x != x) return spec_.nan;
    const unsigned sign = std::signbit(x) ? codes_of(spec_) / 2 : 0;
    const unsigned too_large = static_cast<unsigned>(values_.size() - 1);
    const double magnitude = std::min(std::fabs(x), values_.back());
    auto above =
        static_cast<unsigned>(std::lower_bound(values_.begin(), values_.end(), magnitude) - values_.begin());
    if (above > 0) {
      const double middle = (values_[above - 1] + values_[above]) / 2;
      if (magnitude < middle || (magnitude == middle && (above - 1) % 2 == 0)) above -= 1;
    }
    if (above < too_large) return sign | above;
    if (overflow == Overflow::saturate) return sign | (too_large - 1);
    return spec_.has_infinity ? sign | too_large : spec_.nan;
  }
  const std::vector<double>& values() const { return values_; }  ///< 0 up to the first one that is too large

 private:
  Spec spec_;
  std::vector<double> values_;
};

}  // namespace tinymp::test
