#include <tinymp/numeric/gelu.h>

#include <tests/catch.h>
#include <algorithm>
#include <cmath>
#include <limits>

/// GELU and its derivative against erfc of the C library: double for floats, long double for doubles.
namespace tinymp::test {
namespace {

template <class T>
T exact_gelu(T x) {
  return x * std::erfc(-x * T(0.707106781186547524400844362104849039L)) / 2;
}
template <class T>
T exact_slope(T x) {
  const T density = std::exp(-x * x / 2) * T(0.398942280401432677939946059934381868L);
  return std::erfc(-x * T(0.707106781186547524400844362104849039L)) / 2 + x * density;
}

/// In units of the last place of a number of this size with `digits`, whose smallest one is 2^lowest.
double in_units(long double error, long double of, int digits, int lowest) {
  const int exponent = of == 0 ? lowest : std::max(std::ilogb(of) - digits + 1, lowest);
  return static_cast<double>(std::fabs(error) / std::ldexp(1.0L, exponent));
}

TEST_CASE("gelu of a float is right to 0.5003 units in the last place, and its derivative to 2^-24") {
  double worst = 0, slope = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32);
       bits += 4099) {  // a prime: all exponents, all ends
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(x)) continue;
    const auto wide = static_cast<double>(x);
    const double exact = exact_gelu(wide);
    worst = std::max(worst, in_units(static_cast<double>(gelu(x)) - exact, exact, 24, -149));
    slope = std::max(slope, std::fabs(static_cast<double>(gelu_slope(x)) - exact_slope(wide)));
  }
  INFO(worst << " units, slope " << slope / 0x1p-24);
  CHECK(worst <= 0.5003);
  CHECK(worst >= 0.49);
  CHECK(slope <= 0x1p-23 * 0.51);  // half a unit below 2: the derivative is 1.129 at most
}

TEST_CASE("gelu of a double is right to 8 units in the last place, 2 where it is subnormal") {
  double worst = 0, subnormal = 0, slope = 0;
  for (const double step : {1.0000123e-4, 1.0000123e-6}) {  // the polynomial is at its worst near 0
    for (int i = -390000; i <= 390000; ++i) {
      const double x = i * step;
      const auto wide = static_cast<long double>(x);
      const long double exact = exact_gelu(wide);
      const double units = in_units(static_cast<long double>(gelu(x)) - exact, exact, 53, -1074);
      double& of_kind = std::fabs(exact) < 0x1p-1022L ? subnormal : worst;
      of_kind = std::max(of_kind, units);
      const long double error = static_cast<long double>(gelu_slope(x)) - exact_slope(wide);
      slope = std::max(slope, static_cast<double>(std::fabs(error)));
    }
  }
  INFO(worst << " units, " << subnormal << " of a subnormal, slope " << slope / 0x1p-53 << " x 2^-53");
  CHECK(worst <= 8);
  CHECK(subnormal <= 2);
  CHECK(slope <= 5 * 0x1p-53);
}

template <class T>
void check_ends() {
  constexpr T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  CHECK(gelu(infinity) == infinity);
  CHECK((gelu(-infinity) == 0 && std::signbit(gelu(-infinity))));
  CHECK(gelu(T(100)) == T(100));
  CHECK((gelu(T(-100)) == 0 && std::signbit(gelu(T(-100)))));
  CHECK((gelu(T(0)) == 0 && !std::signbit(gelu(T(0)))));
  CHECK((gelu(T(-0.0)) == 0 && std::signbit(gelu(T(-0.0)))));
  CHECK((std::isnan(gelu(nan)) && !std::signbit(gelu(-nan))));
  CHECK(gelu_slope(infinity) == 1);
  CHECK(gelu_slope(-infinity) == 0);
  CHECK(gelu_slope(T(0)) == T(0.5));
  CHECK(std::isnan(gelu_slope(nan)));
}

TEST_CASE("gelu at the ends: infinities, zeros, NaN") {
  check_ends<float>();
  check_ends<double>();
}

}  // namespace
}  // namespace tinymp::test
