#pragma once

#include <tinymp/base/host_device.h>
#include <bit>
#include <cstdint>
#include <limits>

#ifdef __FAST_MATH__
#error "tinymp: -ffast-math (or -Ofast) breaks the rounding that this library is about; compile without it"
#endif

/// exp, log, tanh and sigmoid with the same bits from every compiler and on every machine. The C library does
/// not promise that. They use + - * / on doubles alone.
///
/// Largest error, in units in the last place of the result, as tests/numeric/exp_log_test.cpp measures it:
///
///               float, all 2^32 arguments        double, millions of samples
///     exp            0.50011                          0.71   (0.79 where the result is subnormal)
///     log            0.50002                          0.87
///     tanh           0.50031                          1.42
///     sigmoid        0.50010                          1.12
///
/// Rounding alone costs 0.5. A float result is the nearest float for all but
/// one argument in a hundred thousand.
///
/// Special cases: overflow gives infinity; underflow gives a subnormal, then 0; log(+-0) = -infinity; the log
/// of a negative number is NaN; tanh(-0) = -0; every NaN becomes the quiet positive NaN.
///
/// The float versions compute in double with a shorter series and round once at the end. They do not branch,
/// so compilers vectorise a loop over them. Under nvcc compile with -fmad=false to get the same bits.
namespace tinymp {
namespace detail {

inline constexpr double kLog2E = 0x1.71547652b82fep+0;   // 1 / ln 2
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;     // ln 2, rounded
inline constexpr double kLn2Hi = 0x1.62e42fefa0000p-1;   // ln 2 = high + low; the last 17 bits of high are 0,
inline constexpr double kLn2Lo = 0x1.cf79abc9e3b3ap-40;  // so that k * high is exact for |k| < 2^17
inline constexpr double kToInteger = 0x1.8p52;           // x + kToInteger - kToInteger rounds x to an integer
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

TINYMP_HD constexpr std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
TINYMP_HD constexpr double double_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// x between low and high; NaN stays NaN.
TINYMP_HD constexpr double clamp(double x, double low, double high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

/// 2^k for an integer -1022 <= k <= 1023: k + 1023 in the exponent field.
TINYMP_HD constexpr double power_of_two(double k) {
  return double_of(bits_of(k + (kToInteger + 1023)) << 52);
}

/// x = k ln 2 + r + r_low with k an integer and |r| <= ln 2 / 2 (Cody and Waite, "Software Manual for the
/// Elementary Functions", 1980, chapter 6). For |x| < 2^16.
struct Reduced {
  double k;
  double r;
  double r_low;  // the rounding error of r
};

TINYMP_HD constexpr Reduced reduce(double x) {
  const double k = (x * kLog2E + kToInteger) - kToInteger;
  const double high = x - k * kLn2Hi;
  const double low = k * kLn2Lo;
  const double r = high - low;
  return {k, r, (high - r) - low};
}

/// e^r - 1 - r = r^2/2! + r^3/3! + ... for |r| <= ln 2 / 2. The error of the series is below 2^-57.
TINYMP_HD constexpr double exp_tail(double r) {
  double p = 1.0 / 6227020800;  // 1/13!
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  return p * r * r;
}

/// e^r - 1 to within 2^-35 of its value, for a result that will be rounded to float. The terms are added in
/// pairs (Estrin), so that a processor can work on several at once.
TINYMP_HD constexpr double expm1_for_float(double r) {
  const double r2 = r * r;
  const double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
  const double high = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
  return r + r2 * (low + (r2 * r2) * high);
}

TINYMP_HD constexpr double exp_for_float(double x) {
  const double k = (x * kLog2E + kToInteger) - kToInteger;
  return (1 + expm1_for_float(x - k * kLn2)) * power_of_two(k);
}

/// x = 2^k (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), and s = f / (2 + f). Then
/// log(1 + f) = 2 atanh(s) = 2s + 2s^3/3 + 2s^5/5 + ..., which converges fast because |s| < 0.172.
struct Split {
  double k, f, s;
};

/// For normal x > 0.
TINYMP_HD constexpr Split split(double x) {
  constexpr std::uint64_t one = 0x3ff0'0000'0000'0000;
  constexpr std::uint64_t root = 0x3fe6'a09e'667f'3bcd;  // sqrt(1/2)
  constexpr std::uint64_t fraction = 0x000f'ffff'ffff'ffff;
  const std::uint64_t shifted = bits_of(x) + (one - root);
  // An integer n < 2^52 in the fraction of 2^52 is the double 2^52 + n.
  const double k = double_of(bits_of(0x1p52) | (shifted >> 52)) - (0x1p52 + 1023);
  const double f = double_of((shifted & fraction) + root) - 1;
  return {k, f, f / (2 + f)};
}

/// log x for normal x > 0. With q = 2s^3/3 + 2s^5/5 + ... and 2s = f - s f = f - f^2/2 + s f^2/2.
TINYMP_HD constexpr double log_core(double x) {
  const Split a = split(x);
  const double z = a.s * a.s;
  double p = 2.0 / 23;
  p = p * z + 2.0 / 21;
  p = p * z + 2.0 / 19;
  p = p * z + 2.0 / 17;
  p = p * z + 2.0 / 15;
  p = p * z + 2.0 / 13;
  p = p * z + 2.0 / 11;
  p = p * z + 2.0 / 9;
  p = p * z + 2.0 / 7;
  p = p * z + 2.0 / 5;
  p = p * z + 2.0 / 3;
  const double square = 0.5 * a.f * a.f;
  return a.k * kLn2Hi + (a.f - (square - (a.s * (square + z * p) + a.k * kLn2Lo)));
}

/// log x to within 2^-39 of its value, for a result that will be rounded to float.
TINYMP_HD constexpr double log_for_float(double x) {
  const Split a = split(x);
  const double z = a.s * a.s;
  const double z2 = z * z;
  const double low = (2.0 + z * (2.0 / 3)) + z2 * (2.0 / 5 + z * (2.0 / 7));
  const double high = (2.0 / 9 + z * (2.0 / 11)) + z2 * (2.0 / 13);
  return a.k * kLn2 + a.s * (low + (z2 * z2) * high);
}

// The float versions handle special cases on the bits and without ?:. The compiler would turn ?: into a jump,
// and a jump stops the vectorisation of the loop around it.
inline constexpr std::int32_t kFloatInfinity = 0x7f80'0000;
inline constexpr std::int32_t kFloatNaN = 0x7fc0'0000;

TINYMP_HD constexpr std::int32_t float_bits(float x) { return std::bit_cast<std::int32_t>(x); }
TINYMP_HD constexpr std::int32_t magnitude_bits(float x) { return float_bits(x) & 0x7fff'ffff; }

/// condition ? yes : no
TINYMP_HD constexpr std::int32_t select(bool condition, std::int32_t yes, std::int32_t no) {
  const std::int32_t mask = -static_cast<std::int32_t>(condition);
  return (yes & mask) | (no & ~mask);
}

/// x between -limit and limit (a NaN too), as a double.
TINYMP_HD constexpr double clamp_magnitude(float x, float limit) {
  const std::int32_t magnitude = magnitude_bits(x);
  const std::int32_t most = float_bits(limit);
  const std::int32_t sign = float_bits(x) ^ magnitude;
  return std::bit_cast<float>(sign | (magnitude < most ? magnitude : most));
}

/// result rounded to float, or NaN when x is NaN.
TINYMP_HD constexpr float round_unless_nan(float x, double result) {
  const std::int32_t bits = float_bits(static_cast<float>(result));
  return std::bit_cast<float>(select(magnitude_bits(x) > kFloatInfinity, kFloatNaN, bits));
}

}  // namespace detail

/// e^x
TINYMP_HD constexpr float exp(float x) {
  return detail::round_unless_nan(x, detail::exp_for_float(detail::clamp_magnitude(x, 110)));
}

TINYMP_HD constexpr double exp(double x) {
  using namespace detail;
  const Reduced a = reduce(clamp(x, -750, 710));
  const double high = 1 + a.r;
  const double low = (a.r - (high - 1)) + (exp_tail(a.r) + a.r_low);
  const double k1 = (a.k * 0.5 + kToInteger) - kToInteger;  // 2^k in two factors: k runs from -1082 to 1024
  const double result = (high + low) * power_of_two(k1) * power_of_two(a.k - k1);
  return x == x ? result : kNaN;
}

/// The natural logarithm of x.
TINYMP_HD constexpr float log(float x) {
  using namespace detail;
  const std::int32_t in = float_bits(x);
  const std::int32_t out = float_bits(static_cast<float>(log_for_float(x)));
  const std::int32_t zero = float_bits(-std::numeric_limits<float>::infinity());
  const std::int32_t edge = select(magnitude_bits(x) == 0, zero, select(in == kFloatInfinity, in, kFloatNaN));
  return std::bit_cast<float>(select((in <= 0) | (in >= kFloatInfinity), edge, out));
}

TINYMP_HD constexpr double log(double x) {
  using namespace detail;
  if (!(x > 0)) return x == 0 ? -kInfinity : kNaN;
  if (x == kInfinity) return x;
  if (x < 0x1p-1022) return log_core(x * 0x1p54) - 54 * kLn2;
  return log_core(x);
}

/// (e^2x - 1) / (e^2x + 1)
TINYMP_HD constexpr float tanh(float x) {
  using namespace detail;
  const double wide = clamp_magnitude(x, 20);
  const double k = (wide * (2 * kLog2E) + kToInteger) - kToInteger;
  const double scale = power_of_two(k);
  const double t = (scale - 1) + scale * expm1_for_float(2 * wide - k * kLn2);  // e^2x - 1
  const double result = double_of(bits_of(t / (t + 2)) | (bits_of(wide) & bits_of(-0.0)));
  return round_unless_nan(x, result);
}

TINYMP_HD constexpr double tanh(double x) {
  using namespace detail;
  const std::uint64_t sign = bits_of(x) & bits_of(-0.0);
  const double magnitude = double_of(bits_of(x) ^ sign);
  // t = 1 - e^(-2|x|) = high + low
  const Reduced a = reduce(-2 * clamp(magnitude, 0, 22));
  const double scale = power_of_two(a.k);
  const double base = 1 - scale;
  const double sum = base - scale * a.r;
  const double tail = ((base - sum) - scale * a.r) - scale * (exp_tail(a.r) + a.r_low);
  const double high = sum + tail;
  const double low = tail - (high - sum);
  // tanh |x| = t / (2 - t); divisor_low is the rounding error of the divisor
  const double divisor = 2 - high;
  const double divisor_low = ((2 - divisor) - high) - low;
  const double quotient = high / divisor;
  const double result = quotient + (low - quotient * divisor_low) / divisor;
  return x == x ? double_of(bits_of(result) | sign) : kNaN;
}

/// 1 / (1 + e^-x)
TINYMP_HD constexpr float sigmoid(float x) {
  return detail::round_unless_nan(x, 1 / (1 + detail::exp_for_float(-detail::clamp_magnitude(x, 110))));
}

TINYMP_HD constexpr double sigmoid(double x) {
  using namespace detail;
  // z = e^-|x| = 2^k (high + low)
  const Reduced a = reduce(clamp(x < 0 ? x : -x, -750, 0));
  const double one = 1 + a.r;
  const double tail = (a.r - (one - 1)) + (exp_tail(a.r) + a.r_low);
  const double high = one + tail;
  const double low = tail - (high - one);
  const double k1 = (a.k * 0.5 + kToInteger) - kToInteger;
  const double scale1 = power_of_two(k1);
  const double scale2 = power_of_two(a.k - k1);
  const double z = high * scale1 * scale2;
  const double divisor = 1 + z;
  const double divisor_low = (z - (divisor - 1)) + low * scale1 * scale2;
  // 1 / (1 + z) for x >= 0, z / (1 + z) for x < 0. The second is scaled last, because it may be subnormal.
  const double numerator = x < 0 ? high : 1;
  const double numerator_low = x < 0 ? low : 0;
  const double quotient = numerator / divisor;
  const double result = quotient + (numerator_low - quotient * divisor_low) / divisor;
  if (!(x == x)) return kNaN;
  return x < 0 ? result * scale1 * scale2 : result;
}

/// base^exponent by squaring: about 2 log2 |exponent| multiplications, each of which rounds. A negative
/// exponent gives the reciprocal of base^|exponent|, or 0 when base^|exponent| overflows.
TINYMP_HD constexpr double integer_power(double base, std::int64_t exponent) {
  const bool negative = exponent < 0;
  const auto bits = static_cast<std::uint64_t>(exponent);
  double result = 1;
  for (std::uint64_t n = negative ? 0 - bits : bits; n != 0; n >>= 1) {
    if ((n & 1) != 0) result *= base;
    base *= base;
  }
  return negative ? 1 / result : result;
}

}  // namespace tinymp
