#pragma once

#include <tinymp/numeric/exp_log.h>

/// The Gaussian error linear unit, GELU(x) = x P(X <= x) for a normal X (Hendrycks and Gimpel 2016, arXiv 1606.08415,
/// section 2), in its exact form, which is PyTorch's default, and its derivative. The same bits everywhere, as in
/// exp_log.h, and without erf of the C library.
///
/// With z = |x| the tail is P(X > z) = e^(-z^2/2) q(u) / (5 + z), u = (5 - z) / (5 + z): q is smooth from z = 0 to infinity,
/// where it has the limit 1 / sqrt(2 pi). The polynomials below interpolate it at Chebyshev's points. Their error is below
/// 2^-35 of q for floats, and 2^-57 for doubles. So the result for a float is off by 0.5003 units in the last place at
/// most, that for a double by 8 (tests/numeric/gelu_test.cpp measures it).
///
/// gelu(-infinity) = -0, the limit (PyTorch: NaN); every NaN becomes the quiet positive NaN.
namespace tinymp {
namespace detail {

/// q for a result that will be rounded to float.
TINYMP_HD constexpr double normal_tail_for_float(double u) {
  double p = -0x1.ab680a3d949cdp-20;
  p = p * u + -0x1.8f5e778cda2e9p-19;
  p = p * u + 0x1.fb00da48aa050p-17;
  p = p * u + 0x1.95b0a9518dfafp-15;
  p = p * u + -0x1.e891355a2c865p-15;
  p = p * u + -0x1.1d2458ab8da43p-11;
  p = p * u + -0x1.a28c8869a9b8bp-11;
  p = p * u + 0x1.884b211de38b6p-9;
  p = p * u + 0x1.54b5386985dfbp-6;
  p = p * u + 0x1.1b1c3c71c39f4p-4;
  p = p * u + 0x1.51f6317b60ad3p-3;
  p = p * u + 0x1.410ed57021ac8p-2;
  p = p * u + 0x1.fb31653c5a99dp-2;
  p = p * u + 0x1.54ad03f44ee45p-1;
  return p * u + 0x1.89d3abe1f95aep-1;
}

TINYMP_HD constexpr double normal_tail(double u) {
  constexpr double terms[] = {
      0x1.1c765d2dcba2fp-33,  0x1.23866b1263775p-33, -0x1.ad4223edde281p-30, -0x1.5c99b106bb2cfp-30,
      0x1.84b35ab131230p-27,  0x1.dc6ca46b46f2fp-28, -0x1.2ec02989fa8b3p-24, -0x1.4b3a7dd63ad7ep-25,
      0x1.d498e06b752c4p-22,  0x1.6620b712fb8efp-22, -0x1.73e1b901846e3p-19, -0x1.0b0cceb69c16ep-18,
      0x1.17df1355db688p-16,  0x1.a16fc7d385410p-15, -0x1.f214921df50b8p-15, -0x1.1daf19f8887a9p-11,
      -0x1.a250377aaec7fp-11, 0x1.88590e916f3c3p-9,  0x1.54b4d4f48bf3fp-6,   0x1.1b1c254ca7b40p-4,
      0x1.51f6329f01ba0p-3,   0x1.410ed5f8758d4p-2,  0x1.fb31653876f89p-2,   0x1.54ad03f27ca19p-1,
      0x1.89d3abe1f95aep-1};
  double p = 0;
  for (const double term : terms) p = p * u + term;
  return p;
}

inline constexpr double kInverseRoot2Pi = 0x1.9884533d43651p-2;  // 1 / sqrt(2 pi)

/// P(X <= x) and the density at x. `within` is x where |x| is not too large, else a number of its sign there.
struct Normal {
  double below, density, within;
};

TINYMP_HD constexpr Normal normal_for_float(float x) {
  const double within = clamp_magnitude(x, 16);  // the tail beyond 14.2 is 0 as a float
  const double z = double_of(bits_of(within) & ~bits_of(-0.0));
  const double e = exp_for_float(-0.5 * (z * z));
  const double divisor = 5 + z;
  const double tail = e * normal_tail_for_float((5 - z) / divisor) / divisor;
  // tail for x < 0, 1 - tail for x >= 0, without a jump
  const double sign = double_of((bits_of(within) & bits_of(-0.0)) | bits_of(1.0));
  return {(0.5 + 0.5 * sign) - sign * tail, e * kInverseRoot2Pi, within};
}

/// The same for a double, with P(X > |x|) as a product: e is e^(-x^2/2).
struct NormalTail {
  double share, e, within;
};

TINYMP_HD constexpr NormalTail normal_tail_of(double x) {
  const double within = clamp(x, -40, 40);  // the tail beyond 38.6 is 0
  const double z = within < 0 ? -within : within;
  // z^2 = high^2 + low: high has 24 bits, so that its square is exact
  const double high = static_cast<double>(static_cast<float>(z)), low = (z - high) * (z + high);
  const double e = exp(-0.5 * (high * high)) * exp(-0.5 * low);
  return {normal_tail((5 - z) / (5 + z)) / (5 + z), e, within};
}

}  // namespace detail

TINYMP_HD constexpr float gelu(float x) {
  using namespace detail;
  const Normal n = normal_for_float(x);
  const std::int32_t positive = float_bits(x);  // beyond 16 it is x itself
  const float result = static_cast<float>(n.within * n.below);
  const std::int32_t bits = select(positive > float_bits(16.0f), positive, float_bits(result));
  return std::bit_cast<float>(select(magnitude_bits(x) > kFloatInfinity, kFloatNaN, bits));
}

TINYMP_HD constexpr double gelu(double x) {
  const detail::NormalTail n = detail::normal_tail_of(x);
  if (!(x == x)) return detail::kNaN;
  // e comes last: the tail is subnormal, and has lost bits, before the result is.
  return x < 0 ? n.within * n.share * n.e : x * (1 - n.share * n.e);
}

/// The derivative of GELU at x: P(X <= x) + x e^(-x^2/2) / sqrt(2 pi).
TINYMP_HD constexpr float gelu_slope(float x) {
  const detail::Normal n = detail::normal_for_float(x);
  return detail::round_unless_nan(x, n.below + n.within * n.density);
}
TINYMP_HD constexpr double gelu_slope(double x) {
  const detail::NormalTail n = detail::normal_tail_of(x);
  const double tail = n.share * n.e, below = n.within < 0 ? tail : 1 - tail;
  return x == x ? below + n.within * (n.e * detail::kInverseRoot2Pi) : detail::kNaN;
}

}  // namespace tinymp
