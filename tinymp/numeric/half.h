#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/half_codec.h>
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <type_traits>

/// `half` is a binary16 number. It behaves like a C++ arithmetic type, except that nothing converts silently.
namespace tinymp {

class half;
template <class T>
concept NeitherFloatNorHalf = !std::same_as<T, float> && !std::same_as<T, half>;

/// Two bytes, the bits of half_codec.h. Like `float`, a `half` without an initialiser holds anything, and
/// `half{}` is 0.
///
/// Only two functions make a half: `half(float)`, which rounds to nearest even, and `half::from_bits`.
/// `half(0.1)` would round twice (double to float to half) and `half(1)` would hide a conversion, so neither
/// compiles. `h + 1.0f` does not compile either: the program must say in which format it adds.
class half {
 public:
  half() = default;
  TINYMP_HD explicit constexpr half(float x) : bits_(half_bits_from_float(x)) {}
  template <NeitherFloatNorHalf T>
  explicit half(T) = delete;  // write half(static_cast<float>(x)), or half_from_double(x) of convert.h

  TINYMP_HD static constexpr half from_bits(std::uint16_t bits) {
    half x{};
    x.bits_ = bits;
    return x;
  }
  TINYMP_HD constexpr std::uint16_t bits() const { return bits_; }
  TINYMP_HD explicit constexpr operator float() const { return float_from_half_bits(bits_); }

  /// Each operation is computed in float and rounded to half. It gives the bits of an operation that rounds
  /// once. Rounding to p' bits and then to p bits is innocuous for + - * / when p' >= 2p + 2, and
  /// 24 = 2 * 11 + 2 is just enough (Figueroa, "When is double rounding innocuous?", ACM SIGNUM Newsletter
  /// 30(3), 1995). The theorem does not cover subnormal results. Subnormal sums and products are exact in
  /// float; for subnormal quotients the tests compare 2^28 pairs of operands with _Float16.
  TINYMP_HD friend constexpr half operator+(half a, half b) { return half(float(a) + float(b)); }
  TINYMP_HD friend constexpr half operator-(half a, half b) { return half(float(a) - float(b)); }
  TINYMP_HD friend constexpr half operator*(half a, half b) { return half(float(a) * float(b)); }
  TINYMP_HD friend constexpr half operator/(half a, half b) { return half(float(a) / float(b)); }
  TINYMP_HD constexpr half& operator+=(half b) { return *this = *this + b; }
  TINYMP_HD constexpr half& operator-=(half b) { return *this = *this - b; }
  TINYMP_HD constexpr half& operator*=(half b) { return *this = *this * b; }
  TINYMP_HD constexpr half& operator/=(half b) { return *this = *this / b; }

  TINYMP_HD friend constexpr half operator+(half a) { return a; }
  /// Flips the sign bit, that of a zero too. NaN stays the one NaN.
  TINYMP_HD friend constexpr half operator-(half a) { return isnan(a) ? a : from_bits(a.bits_ ^ 0x8000); }

  /// As for float, NaN is unordered and unequal to everything, itself included, and -0 == 0. The bits of
  /// positive halves, read as integers, are in the order of their values, so nothing is converted.
  TINYMP_HD friend constexpr bool operator==(half a, half b) { return ordered(a, b) && a.rank() == b.rank(); }
  TINYMP_HD friend constexpr bool operator<(half a, half b) { return ordered(a, b) && a.rank() < b.rank(); }
  TINYMP_HD friend constexpr bool operator>(half a, half b) { return ordered(a, b) && a.rank() > b.rank(); }
  TINYMP_HD friend constexpr bool operator<=(half a, half b) { return ordered(a, b) && a.rank() <= b.rank(); }
  TINYMP_HD friend constexpr bool operator>=(half a, half b) { return ordered(a, b) && a.rank() >= b.rank(); }

  TINYMP_HD friend constexpr bool signbit(half a) { return (a.bits_ & 0x8000) != 0; }
  TINYMP_HD friend constexpr bool isfinite(half a) { return (a.bits_ & 0x7c00) != 0x7c00; }
  TINYMP_HD friend constexpr bool isinf(half a) { return (a.bits_ & 0x7fff) == 0x7c00; }
  TINYMP_HD friend constexpr bool isnan(half a) { return (a.bits_ & 0x7fff) > 0x7c00; }
  TINYMP_HD friend constexpr half abs(half a) { return from_bits(a.bits_ & 0x7fff); }

 private:
  TINYMP_HD static constexpr bool ordered(half a, half b) { return !isnan(a) && !isnan(b); }
  TINYMP_HD constexpr int rank() const { return signbit(*this) ? -(bits_ & 0x7fff) : bits_; }

  std::uint16_t bits_;
};

static_assert(sizeof(half) == 2 && std::is_trivial_v<half> && std::is_standard_layout_v<half>);

/// Sign, exponent, fraction: "0 01111 0000000000" is 1.
std::string to_bit_string(half x);

/// The value in decimal, as the stream prints a float. Six digits, the default, tell all halves apart.
std::ostream& operator<<(std::ostream& out, half x);

}  // namespace tinymp

/// Every member is defined, because a half is an IEEE number. (It has no signalling NaN:
/// nothing in this library signals.)
template <>
class std::numeric_limits<tinymp::half> {
  using half = tinymp::half;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool is_iec559 = true;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;

  static constexpr int radix = 2;
  static constexpr int digits = 11;         // 10 written, 1 implied
  static constexpr int digits10 = 3;        // floor(10 * log10(2))
  static constexpr int max_digits10 = 5;    // ceil(1 + 11 * log10(2))
  static constexpr int min_exponent = -13;  // 2^(-13 - 1) is the smallest normal
  static constexpr int max_exponent = 16;   // 2^(16 - 1) is the largest power of two
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent10 = 4;

  TINYMP_HD static constexpr half min() noexcept { return at(0b0'00001'0000000000); }          // 2^-14
  TINYMP_HD static constexpr half max() noexcept { return at(0b0'11110'1111111111); }          // 65504
  TINYMP_HD static constexpr half lowest() noexcept { return at(0b1'11110'1111111111); }       // -65504
  TINYMP_HD static constexpr half epsilon() noexcept { return at(0b0'00101'0000000000); }      // 2^-10
  TINYMP_HD static constexpr half round_error() noexcept { return at(0b0'01110'0000000000); }  // 0.5
  TINYMP_HD static constexpr half denorm_min() noexcept { return at(0b0'00000'0000000001); }   // 2^-24
  TINYMP_HD static constexpr half infinity() noexcept { return at(0b0'11111'0000000000); }
  TINYMP_HD static constexpr half quiet_NaN() noexcept { return at(0b0'11111'1000000000); }
  TINYMP_HD static constexpr half signaling_NaN() noexcept { return quiet_NaN(); }

 private:
  TINYMP_HD static constexpr half at(std::uint16_t bits) { return half::from_bits(bits); }
};
