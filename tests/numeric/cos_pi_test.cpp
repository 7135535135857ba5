#include <tests/catch.h>
#include <tinymp/numeric/cos_pi.h>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace tinymp::test {
namespace {

/// cos(pi x) for |x| <= 1 in long double; near its zeros the sine of the exact distance, which keeps all
/// digits.
long double oracle(double x) {
  const long double pi = std::acos(-1.0L), wide = std::fabs(static_cast<long double>(x));
  return std::fabs(wide - 0.5L) < 0.25L ? std::sin(pi * (0.5L - wide)) : std::cos(pi * wide);
}

double error_in_ulp(double got, long double expected) {
  const double size = std::fabs(static_cast<double>(expected));
  const int exponent = size < DBL_MIN ? -1022 : std::ilogb(size);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - expected) /
                             std::ldexp(1.0L, exponent - 52));
}

TEST_CASE("cos_pi: within 1.8 units in the last place") {
  if (std::numeric_limits<long double>::digits < 64) SKIP_TEST("long double is no wider than double");
  std::mt19937_64 generator(1);
  double worst = 0;
  for (int i = 0; i < 2'000'000; ++i) {
    const double u = static_cast<double>(generator() >> 11) * 0x1p-53;
    for (const double x : {u, 0.5 + std::ldexp(u, -(i % 50)), 0.5 - std::ldexp(u, -(i % 50) - 1)}) {
      if (x > 1) continue;
      worst = std::max(worst, error_in_ulp(cos_pi(x), oracle(x)));
    }
  }
  CHECK(worst < 1.8);
  CHECK(worst > 0.49);  // smaller would mean that the measurement is broken
  std::printf("cos_pi: largest error %.3f ulp\n", worst);
}

TEST_CASE("cos_pi: exact at whole and half turns, even, of period 2, and never beyond 1") {
  for (int k = -8; k <= 8; ++k) {
    CHECK(cos_pi(k) == (k % 2 == 0 ? 1 : -1));
    CHECK(cos_pi(k + 0.5) == 0);
  }
  CHECK(cos_pi(0x1p53) == 1);
  CHECK(cos_pi(0x1p53 - 1) == -1);
  CHECK(cos_pi(1e300) == 1);
  CHECK(cos_pi(0x1p-60) == 1);
  for (const double bad : {std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK(std::isnan(cos_pi(bad)));
  std::mt19937_64 generator(2);
  for (int i = 0; i < 100'000; ++i) {
    const double x = static_cast<double>(generator() >> 33) * 0x1p-30;  // x + 2 is exact
    const double c = cos_pi(x);
    REQUIRE((c == cos_pi(-x) && c == cos_pi(x + 2) && c == -cos_pi(x + 1)));
    REQUIRE(std::fabs(c) <= 1);
  }
}

}  // namespace
}  // namespace tinymp::test
