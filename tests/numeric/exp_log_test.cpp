#include <tests/catch.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/exp_log.h>
#include <array>
#include <cfloat>
#include <cmath>
#include <mutex>
#include <random>

namespace tinymp::test {
namespace {

// --- float, against the C library in double ---

constexpr std::size_t kBlock = 1024;
using Floats = std::array<float, kBlock>;

struct Function {
  void (*ours)(const Floats& in, Floats& out);
  double (*oracle)(double);
};

// Where the result is decided by the size of x alone, the C library is not asked: that makes the sweep
// affordable.
double exp_oracle(double x) {
  if (std::fabs(x) < 0x1p-30) return 1 + x;
  return x > 90 ? 1e40 : x < -110 ? 1e-48 : std::exp(x);
}
double log_oracle(double x) { return x < 0 ? std::nan("") : std::log(x); }
double tanh_oracle(double x) {
  if (std::fabs(x) < 0x1p-13) return x * (1 - x * x / 3);
  return std::fabs(x) > 20 ? std::copysign(1.0, x) : std::tanh(x);
}
double sigmoid_oracle(double x) {
  if (std::fabs(x) < 0x1p-30) return 0.5 + x / 4;
  return x > 40 ? 1.0 : x < -110 ? 1e-48 : 1 / (1 + std::exp(-x));
}

// A loop, so that what the compiler makes of it with vector instructions is what is tested.
template <float (*function)(float)>
void each(const Floats& in, Floats& out) {
  for (std::size_t i = 0; i < kBlock; ++i) out[i] = function(in[i]);
}

constexpr Function kExp = {each<exp>, exp_oracle};
constexpr Function kLog = {each<log>, log_oracle};
constexpr Function kTanh = {each<tanh>, tanh_oracle};
constexpr Function kSigmoid = {each<sigmoid>, sigmoid_oracle};

/// |got - expected| in units of the last place that a float of the size of `expected` has.
double error_in_ulp(float got, double expected) {
  const std::int64_t exponent =
      static_cast<std::int64_t>((std::bit_cast<std::uint64_t>(expected) >> 52) & 0x7ff) - 1023;
  const std::int64_t last = std::max<std::int64_t>(exponent, -126) - 23;
  if (exponent > 127 || std::isinf(got)) {  // the middle between the largest float and 2^128 rounds up
    const bool right = std::fabs(expected) >= 0x1.ffffffp127
                           ? static_cast<double>(got) == std::copysign(INFINITY, expected)
                           : !std::isinf(got);
    return right ? 0 : INFINITY;
  }
  const double ulp_inverse = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - last) << 52);
  return std::fabs(static_cast<double>(got) - expected) * ulp_inverse;
}

/// Checks one value; gives its error back.
double check_float(float x, float got, double expected, Mismatches& wrong) {
  if (expected != expected) {
    if (std::bit_cast<std::uint32_t>(got) != 0x7fc0'0000)
      wrong.add([&] { return show_mismatch(x, got, std::bit_cast<float>(0x7fc0'0000u)); });
    return 0;
  }
  const double error = error_in_ulp(got, expected);
  // A rounding costs 0.5; the rest is what exp_log.h states.
  if (!(error <= 0.5004) || std::signbit(got) != std::signbit(expected))
    wrong.add(
        [&] { return show_mismatch(x, got, static_cast<float>(expected)) + "that is  " + show(expected); });
  return error;
}

/// Every stride-th float; gives the largest error back.
double check_floats(const Function& f, std::uint64_t stride, Mismatches& wrong) {
  double worst = 0;
  std::mutex mutex;
  sweep((std::uint64_t{1} << 32) / stride, [&](std::uint64_t first, std::uint64_t last) {
    Floats in, out;
    double worst_here = 0;
    for (; first < last; first += kBlock) {
      for (std::size_t i = 0; i < kBlock; ++i)
        in[i] = std::bit_cast<float>(static_cast<std::uint32_t>((first + i) * stride));
      f.ours(in, out);
      for (std::size_t i = 0; i < kBlock; ++i) {
        const double expected = in[i] != in[i] ? std::nan("") : f.oracle(static_cast<double>(in[i]));
        worst_here = std::max(worst_here, check_float(in[i], out[i], expected, wrong));
      }
    }
    const std::lock_guard lock(mutex);
    worst = std::max(worst, worst_here);
  });
  return worst;
}

void check_and_tell(const char* name, const Function& f, std::uint64_t stride) {
  Mismatches wrong;
  const double worst = check_floats(f, stride, wrong);
  CHECK_NONE(wrong);
  CHECK(worst >= 0.49);  // smaller would mean that the measurement is broken
  if (stride == 1) std::printf("%s(float): largest error over all floats %.6f ulp\n", name, worst);
}

TEST_CASE("exp_log: exp of floats a stride apart") { check_and_tell("exp", kExp, 1021); }
TEST_CASE("exp_log: log of floats a stride apart") { check_and_tell("log", kLog, 1021); }
TEST_CASE("exp_log: tanh of floats a stride apart") { check_and_tell("tanh", kTanh, 1021); }
TEST_CASE("exp_log: sigmoid of floats a stride apart") { check_and_tell("sigmoid", kSigmoid, 1021); }
TEST_CASE("exp_log: exp of all 2^32 floats", "[exhaustive]") { check_and_tell("exp", kExp, 1); }
TEST_CASE("exp_log: log of all 2^32 floats", "[exhaustive]") { check_and_tell("log", kLog, 1); }
TEST_CASE("exp_log: tanh of all 2^32 floats", "[exhaustive]") { check_and_tell("tanh", kTanh, 1); }
TEST_CASE("exp_log: sigmoid of all 2^32 floats", "[exhaustive]") { check_and_tell("sigmoid", kSigmoid, 1); }

// --- double, against long double ---

struct WideFunction {
  double (*ours)(double);
  long double (*oracle)(long double);
};
const WideFunction kWideExp = {[](double x) { return exp(x); }, [](long double x) { return std::exp(x); }};
const WideFunction kWideLog = {[](double x) { return log(x); }, [](long double x) { return std::log(x); }};
const WideFunction kWideTanh = {[](double x) { return tanh(x); }, [](long double x) { return std::tanh(x); }};
const WideFunction kWideSigmoid = {[](double x) { return sigmoid(x); },
                                   [](long double x) { return 1 / (1 + std::exp(-x)); }};

double error_in_ulp(double got, long double expected) {
  const double size = std::fabs(static_cast<double>(expected));
  const int exponent = size < DBL_MIN ? -1022 : std::ilogb(size);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - expected) /
                             std::ldexp(1.0L, exponent - 52));
}

/// `count` arguments between low and high; with `logarithmic`, 2^low to 2^high.
double worst_of(const WideFunction& f, double low, double high, bool logarithmic = false,
                int count = 200'000) {
  std::mt19937_64 generator(1);
  double worst = 0;
  for (int i = 0; i < count; ++i) {
    const double u = static_cast<double>(generator() >> 11) * 0x1p-53;
    const double t = low + (high - low) * u;
    const double x = logarithmic ? std::exp2(t) : t;
    const double error = error_in_ulp(f.ours(x), f.oracle(x));
    if (!(error <= worst)) worst = error;  // a NaN stays
    if (worst != worst) return worst;
  }
  return worst;
}

TEST_CASE("exp_log: double against long double") {
  if (LDBL_MANT_DIG < 64) SKIP_TEST("long double is no wider than double here");
  // The bounds of exp_log.h.
  CHECK(worst_of(kWideExp, -708, 709.7) < 0.8);
  CHECK(worst_of(kWideExp, -1, 1) < 0.8);
  CHECK(worst_of(kWideExp, -745, -708) < 1);  // rounded twice where the result is subnormal
  CHECK(worst_of(kWideLog, 0.5, 2) < 0.9);
  CHECK(worst_of(kWideLog, 0.99, 1.01) < 0.9);
  CHECK(worst_of(kWideLog, -1074, 1023, true) < 0.9);
  CHECK(worst_of(kWideTanh, -1, 1) < 1.5);
  CHECK(worst_of(kWideTanh, -25, 25) < 1.5);
  CHECK(worst_of(kWideTanh, -1074, 0, true) < 1.5);
  CHECK(worst_of(kWideSigmoid, -1, 1) < 1.2);
  CHECK(worst_of(kWideSigmoid, -40, 40) < 1.2);
  CHECK(worst_of(kWideSigmoid, -745, -40) < 1.2);
}

// --- the edges, and what must hold exactly ---

template <class T>
void check_edges() {
  constexpr T kInf = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr T kMax = std::numeric_limits<T>::max();
  const auto check = [](T got, T expected) {
    INFO("got      " << show(got) << "\nexpected " << show(expected));
    CHECK(show(got) == show(expected));
  };
  check(exp(T(0)), 1);
  check(exp(-T(0)), 1);
  check(exp(kInf), kInf);
  check(exp(-kInf), 0);
  check(exp(kMax), kInf);
  check(exp(-kMax), 0);
  check(log(T(1)), 0);
  check(log(T(0)), -kInf);
  check(log(-T(0)), -kInf);
  check(log(T(-1)), kNan);
  check(log(-kInf), kNan);
  check(log(kInf), kInf);
  check(tanh(T(0)), 0);
  check(tanh(-T(0)), -T(0));
  check(tanh(kInf), 1);
  check(tanh(-kInf), -1);
  check(tanh(kMax), 1);
  check(tanh(std::numeric_limits<T>::denorm_min()), std::numeric_limits<T>::denorm_min());
  check(sigmoid(T(0)), T(0.5));
  check(sigmoid(kInf), 1);
  check(sigmoid(-kInf), 0);
  check(sigmoid(kMax), 1);
  check(sigmoid(-kMax), 0);
  for (T nan : {kNan, -kNan, std::copysign(std::numeric_limits<T>::signaling_NaN(), T(-1))})
    for (T result : {exp(nan), log(nan), tanh(nan), sigmoid(nan)}) check(result, kNan);
}

TEST_CASE("exp_log: the edges in float") { check_edges<float>(); }
TEST_CASE("exp_log: the edges in double") { check_edges<double>(); }

TEST_CASE("exp_log: overflow and underflow at the right place") {
  CHECK(exp(88.72283f) < INFINITY);
  CHECK(exp(88.72284f) == INFINITY);
  CHECK(exp(-103.97208f) == std::numeric_limits<float>::denorm_min());
  CHECK(exp(-103.97209f) == 0);
  CHECK(exp(709.782712893384) < INFINITY);
  CHECK(exp(709.782712893385) == INFINITY);
  CHECK(exp(-745.1332191019411) == std::numeric_limits<double>::denorm_min());
  CHECK(exp(-745.1332191019412) == 0);
  CHECK(sigmoid(-745.0) == exp(-745.0));
}

TEST_CASE("exp_log: tanh is odd to the bit") {
  for (float x = 0; x < 12; x += 0.037f) CHECK(tanh(-x) == -tanh(x));
  for (double x = 0; x < 25; x += 0.037) CHECK(tanh(-x) == -tanh(x));
}

static_assert(exp(0.0f) == 1.0f && log(1.0) == 0 && tanh(0.0f) == 0 && sigmoid(0.0) == 0.5);

TEST_CASE("exp_log: a loop gives the bits of single calls") {
  Floats in{}, out{};
  for (std::size_t i = 0; i < kBlock; ++i) in[i] = static_cast<float>(i) * 0.21f - 100;
  in[5] = INFINITY;
  in[6] = NAN;
  in[7] = -0.0f;
  const auto check = [&](const Function& f, auto&& one) {
    f.ours(in, out);
    for (std::size_t i = 0; i < kBlock; ++i) {
      volatile float x = in[i];  // keeps this loop from being vectorised as well
      CHECK(show(out[i]) == show(one(x)));
    }
  };
  check(kExp, [](float x) { return exp(x); });
  check(kLog, [](float x) { return log(x); });
  check(kTanh, [](float x) { return tanh(x); });
  check(kSigmoid, [](float x) { return sigmoid(x); });
}

TEST_CASE("exp_log: integer_power") {
  CHECK(integer_power(2, 10) == 1024);
  CHECK(integer_power(2, -1022) == 0x1p-1022);
  CHECK(integer_power(-3, 3) == -27);
  CHECK(integer_power(0, 0) == 1);
  CHECK(integer_power(7, 0) == 1);
  CHECK(integer_power(0, 5) == 0);
  CHECK(integer_power(10, 22) == 1e22);
  CHECK(integer_power(1.5, std::numeric_limits<std::int64_t>::max()) == INFINITY);
  CHECK(integer_power(1.5, std::numeric_limits<std::int64_t>::min()) == 0);
  CHECK(integer_power(-1, std::numeric_limits<std::int64_t>::min()) == 1);
  CHECK(std::isnan(integer_power(NAN, 2)));
  if (LDBL_MANT_DIG < 64) SKIP_TEST("long double is no wider than double here");
  for (double base : {0.9, 0.999, 0.99999})  // bias correction of Adam
    for (std::int64_t n = 1; n < 100'000; n = n * 3 / 2 + 1) {
      const long double expected = std::pow(static_cast<long double>(base), static_cast<long double>(n));
      if (expected < DBL_MIN) break;
      CHECK(std::fabs(integer_power(base, n) / expected - 1) < 1e-15L * static_cast<long double>(n));
    }
}

}  // namespace
}  // namespace tinymp::test
