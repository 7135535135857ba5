#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/small_float_codec.h>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>

/// `small_float` is the class behind bfloat16 (bfloat16.h), the FP8 formats (float8.h) and FP4 (float4.h), a
/// sibling of `half`.
namespace tinymp {

/// One or two bytes, the bits of small_float_codec.h. Like `float`, one without an initialiser holds
/// anything, and `small_float{}` is 0.
///
/// Nothing converts silently: a small_float is made from a float, rounded once to nearest even, or by
/// from_bits. In a 16-bit format a value that is too large becomes infinity. An 8-bit format overflows early,
/// so each conversion names the result of an overflow: float8_e4m3(x, Overflow::saturate). Other ways to round
/// are in rounded.h.
template <int ExponentBits, int FractionBits, Specials specials>
class small_float {
 public:
  using Layout = FloatLayout<ExponentBits, FractionBits, specials>;
  using Bits = typename Layout::Bits;

  small_float() = default;
  TINYMP_HD explicit constexpr small_float(float x) requires(Layout::width == 16)
      : small_float(x, Overflow::infinity) {}
  TINYMP_HD constexpr small_float(float x, Overflow overflow)
      : bits_(small_bits_from_float<Layout>(x, overflow)) {}
  /// Convert from a float; for 8 bits or fewer, pass an Overflow.
  template <class T>
  requires(!std::same_as<T, small_float> &&
           !(std::same_as<T, float> && Layout::width == 16)) explicit small_float(T) = delete;
  /// Convert from a float: any other type could be rounded on the way to a float.
  template <class T>
  requires(!std::same_as<T, float>) small_float(T, Overflow)
  = delete;

  TINYMP_HD static constexpr small_float from_bits(Bits bits) {
    small_float x{};
    x.bits_ = bits;
    return x;
  }
  TINYMP_HD constexpr Bits bits() const { return bits_; }
  TINYMP_HD explicit constexpr operator float() const { return float_from_small_bits<Layout>(bits_); }

  TINYMP_HD friend constexpr small_float operator+(small_float a) { return a; }
  /// Flips the sign bit, that of a zero too. NaN stays the one NaN.
  TINYMP_HD friend constexpr small_float operator-(small_float a) {
    return isnan(a) ? a : from_bits(a.bits_ ^ Layout::sign_bit);
  }

  /// As for float, NaN is unordered and unequal to everything, itself included, and -0 == 0. The bits of
  /// positive numbers, read as integers, are in the order of their values, so nothing is converted.
  TINYMP_HD friend constexpr bool operator==(small_float a, small_float b) {
    return ordered(a, b) && a.rank() == b.rank();
  }
  TINYMP_HD friend constexpr bool operator<(small_float a, small_float b) {
    return ordered(a, b) && a.rank() < b.rank();
  }
  TINYMP_HD friend constexpr bool operator>(small_float a, small_float b) {
    return ordered(a, b) && a.rank() > b.rank();
  }
  TINYMP_HD friend constexpr bool operator<=(small_float a, small_float b) {
    return ordered(a, b) && a.rank() <= b.rank();
  }
  TINYMP_HD friend constexpr bool operator>=(small_float a, small_float b) {
    return ordered(a, b) && a.rank() >= b.rank();
  }

  TINYMP_HD friend constexpr bool signbit(small_float a) { return (a.bits_ & Layout::sign_bit) != 0; }
  TINYMP_HD friend constexpr bool isfinite(small_float a) { return a.magnitude() <= Layout::largest; }
  TINYMP_HD friend constexpr bool isinf(small_float a) {
    return Layout::has_infinity && a.magnitude() == Layout::exponent_ones;
  }
  TINYMP_HD friend constexpr bool isnan(small_float a) { return !isfinite(a) && !isinf(a); }
  TINYMP_HD friend constexpr small_float abs(small_float a) { return from_bits(a.magnitude()); }

 private:
  TINYMP_HD static constexpr bool ordered(small_float a, small_float b) { return !isnan(a) && !isnan(b); }
  TINYMP_HD constexpr Bits magnitude() const { return bits_ & Layout::all_ones; }
  TINYMP_HD constexpr int rank() const { return signbit(*this) ? -magnitude() : magnitude(); }

  Bits bits_;
};

namespace detail {
std::string bit_string(std::uint32_t bits, int exponent_bits, int fraction_bits);
std::ostream& print(std::ostream& out, float value);
}  // namespace detail

/// Sign, exponent, fraction: "0 01111111 0000000" is 1 in bfloat16, "0 0111 000" in float8_e4m3.
template <int E, int F, Specials S>
std::string to_bit_string(small_float<E, F, S> x) {
  return detail::bit_string(x.bits(), E, F);
}

/// The value in decimal, as the stream prints a float. Six digits, the default, tell all numbers apart.
template <int E, int F, Specials S>
std::ostream& operator<<(std::ostream& out, small_float<E, F, S> x) {
  return detail::print(out, static_cast<float>(x));
}

}  // namespace tinymp

/// infinity() is NaN for a format without infinity, and the largest number for one without NaN. (No format has a signalling NaN:
/// nothing in this library signals.)
template <int E, int F, tinymp::Specials S>
class std::numeric_limits<tinymp::small_float<E, F, S>> {
  using Number = tinymp::small_float<E, F, S>;
  using Layout = typename Number::Layout;
  static constexpr int decimal(int binary) { return binary * 30103 / 100000; }  // times log10(2), towards 0

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool is_iec559 = Layout::has_infinity;
  static constexpr bool has_infinity = Layout::has_infinity;
  static constexpr bool has_quiet_NaN = Layout::has_nan;
  static constexpr bool has_signaling_NaN = false;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  static constexpr int radix = 2;
  static constexpr int digits = F + 1;  // one is implied
  static constexpr int digits10 = decimal(digits - 1);
  static constexpr int max_digits10 = 2 + decimal(digits);
  static constexpr int min_exponent = Layout::smallest_exponent + 1;
  static constexpr int max_exponent = Layout::largest_exponent + 1;
  static constexpr int min_exponent10 = decimal(min_exponent - 1);
  static constexpr int max_exponent10 = decimal(max_exponent);

  TINYMP_HD static constexpr Number min() noexcept { return at(1 << F); }
  TINYMP_HD static constexpr Number max() noexcept { return at(Layout::largest); }
  TINYMP_HD static constexpr Number lowest() noexcept { return at(Layout::sign_bit | Layout::largest); }
  TINYMP_HD static constexpr Number epsilon() noexcept { return Number(tinymp::power_of_two(-F), exact); }
  TINYMP_HD static constexpr Number round_error() noexcept { return Number(0.5f, exact); }
  TINYMP_HD static constexpr Number denorm_min() noexcept { return at(1); }
  TINYMP_HD static constexpr Number infinity() noexcept { return at(Layout::too_large); }
  TINYMP_HD static constexpr Number quiet_NaN() noexcept { return at(Layout::nan); }
  TINYMP_HD static constexpr Number signaling_NaN() noexcept { return quiet_NaN(); }

 private:
  static constexpr tinymp::Overflow exact = tinymp::Overflow::infinity;
  TINYMP_HD static constexpr Number at(int bits) {
    return Number::from_bits(static_cast<typename Number::Bits>(bits));
  }
};
