#include <tests/catch.h>
#include <tests/numeric/half_oracle.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <sstream>
#include <type_traits>

namespace tinymp::test {
namespace {

half h(float x) { return half(x); }
half bits(unsigned b) { return half::from_bits(static_cast<std::uint16_t>(b)); }

// --- What converts and what does not. tests/compile shows the messages. ---
static_assert(sizeof(half) == 2 && alignof(half) == 2);
static_assert(std::is_trivially_copyable_v<half> && std::is_trivially_default_constructible_v<half>);
static_assert(std::is_constructible_v<half, float> && !std::is_convertible_v<float, half>);
static_assert(!std::is_constructible_v<half, double> && !std::is_constructible_v<half, int>);
static_assert(!std::is_constructible_v<half, unsigned short> && !std::is_constructible_v<half, bool>);
static_assert(std::is_constructible_v<float, half> && !std::is_convertible_v<half, float>);
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
static_assert(Addable<half, half> && !Addable<half, float> && !Addable<float, half> && !Addable<half, int>);

// --- All of it works at compile time. ---
static_assert((half(1.5f) + half(0.25f)).bits() == half(1.75f).bits());
static_assert(half{}.bits() == 0 && (-half{}).bits() == 0x8000 && abs(half(-2.0f)) == half(2.0f));

/// a op b in exact arithmetic, rounded once. Sums and products of halves are exact in double (40 and 22
/// bits).
double exact_quotient_rounded(double a, double b) {
  double q = a / b;
  if (std::isfinite(q) && q != 0) {
    // The exact remainder tells on which side of q the true quotient lies. Round q to odd, so that it can be
    // rounded again (half_from_double in convert.h says why).
    const double remainder = std::fma(-q, b, a);
    auto q_bits = std::bit_cast<std::uint64_t>(q);
    if (remainder != 0 && q_bits % 2 == 0) {
      const bool larger = std::signbit(remainder) == std::signbit(a);
      q = std::bit_cast<double>(larger ? q_bits + 1 : q_bits - 1);
    }
  }
  return round_to_half(q);
}

enum class Op { add, subtract, multiply, divide };
constexpr Op kOps[] = {Op::add, Op::subtract, Op::multiply, Op::divide};

half apply(Op op, half a, half b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      break;
  }
  return a / b;
}

double exact(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return round_to_half(a + b);
    case Op::subtract:
      return round_to_half(a - b);
    case Op::multiply:
      return round_to_half(a * b);
    case Op::divide:
      break;
  }
  return exact_quotient_rounded(a, b);
}

const std::vector<double>& half_values() {
  static const std::vector<double> values = [] {
    std::vector<double> v(65536);
    for (unsigned i = 0; i < v.size(); ++i) v[i] = value_of_half(static_cast<std::uint16_t>(i));
    return v;
  }();
  return values;
}

void check_pair(Op op, unsigned a, unsigned b, Mismatches& wrong) {
  const std::vector<double>& values = half_values();
  const half got = apply(op, bits(a), bits(b));
  const double expected = exact(op, values[a], values[b]);
  const double value = values[got.bits()];
  const bool same = expected != expected ? got.bits() == kHalfNaN
                                         : value == expected && std::signbit(value) == std::signbit(expected);
  if (!same)
    wrong.add([&] {
      return std::string(1, "+-*/"[static_cast<int>(op)]) + "  of  " + show(bits(a)) + "\nand      " +
             show(bits(b)) + "\ngot      " + show(got) + "\nexpected " + show(expected);
    });
}

/// For every first operand, 65536 / stride second ones, other ones for each.
void check_pairs(unsigned stride, Mismatches& wrong) {
  half_values();
  sweep(std::uint64_t{65536} * (65536 / stride), [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      const auto a = static_cast<unsigned>(i / (65536 / stride));
      const unsigned shift =
          (a * 2654435761u >> 12) % stride;  // scattered: low bits of a and b are unrelated
      const auto b = static_cast<unsigned>(i % (65536 / stride)) * stride + shift;
      for (Op op : kOps) check_pair(op, a, b, wrong);
    }
  });
}

TEST_CASE("half: worked examples of arithmetic") {
  CHECK((h(1) + h(2)).bits() == h(3).bits());
  CHECK((h(2048) + h(1)).bits() == h(2048).bits());  // the tie goes to even: an update that vanishes
  CHECK((h(2048) + h(3)).bits() == h(2052).bits());
  CHECK((h(60000) + h(60000)).bits() == 0x7c00);
  CHECK((h(-60000) * h(2)).bits() == 0xfc00);
  CHECK((h(0x1p-14f) / h(2)).bits() == 0x0200);
  CHECK((h(0x1p-24f) * h(0.5f)).bits() == 0x0000);
  CHECK((h(1) / h(3)).bits() == 0x3555);
  CHECK((h(1) / h(0)).bits() == 0x7c00);
  CHECK((h(1) / -h(0)).bits() == 0xfc00);
  CHECK((h(0) / h(0)).bits() == kHalfNaN);
  CHECK((bits(0x7c00) - bits(0x7c00)).bits() == kHalfNaN);
  CHECK((h(1) - h(1)).bits() == 0x0000);
  CHECK((-h(0) + -h(0)).bits() == 0x8000);
}

TEST_CASE("half: compound assignment, unary minus and plus") {
  half x = h(3);
  CHECK((x += h(1)).bits() == h(4).bits());
  CHECK((x -= h(6)).bits() == h(-2).bits());
  CHECK((x *= h(0.5f)).bits() == h(-1).bits());
  CHECK((x /= h(4)).bits() == h(-0.25f).bits());
  CHECK((x += x).bits() == h(-0.5f).bits());
  CHECK((-h(0)).bits() == 0x8000);
  CHECK((-bits(0x8000)).bits() == 0x0000);
  CHECK((-bits(0x7c00)).bits() == 0xfc00);
  CHECK((-bits(kHalfNaN)).bits() == kHalfNaN);
  CHECK((+h(-7)).bits() == h(-7).bits());
}

TEST_CASE("half: the edges of the format in every pair") {
  const unsigned edges[] = {0x0000, 0x0001, 0x0002, 0x01ff, 0x03ff, 0x0400, 0x0401, 0x07ff, 0x13ff,
                            0x1400, 0x3555, 0x3bff, 0x3c00, 0x3c01, 0x4000, 0x5bff, 0x63ff, 0x6400,
                            0x6800, 0x7800, 0x7bfe, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff};
  Mismatches wrong;
  for (unsigned a : edges)
    for (unsigned b : edges)
      for (unsigned signs = 0; signs < 4; ++signs)
        for (Op op : kOps) check_pair(op, a | (signs & 1) << 15, b | (signs & 2) << 14, wrong);
  CHECK_NONE(wrong);
}

TEST_CASE("half: sum, difference, product and quotient of 2^21 pairs are rounded once") {
  Mismatches wrong;
  check_pairs(2048, wrong);
  CHECK_NONE(wrong);
}

TEST_CASE("half: sum, difference, product and quotient of 2^28 pairs are rounded once", "[exhaustive]") {
  Mismatches wrong;
  check_pairs(16, wrong);
  CHECK_NONE(wrong);
}

/// The results of all six as bits.
template <class T>
unsigned comparisons(const T& x, const T& y) {
  unsigned bits = 0;
  for (bool result : {x == y, x != y, x<y, x> y, x <= y, x >= y}) bits = bits * 2 + (result ? 1 : 0);
  return bits;
}

TEST_CASE("half: comparisons are those of the values") {
  std::vector<unsigned> some = {0x0000, 0x8000, 0x0001, 0x8001, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                0x7c01, 0x7e00, 0xfe00, 0xffff, 0x3c00, 0x3c01, 0xbc00};
  for (unsigned b = 0; b < 65536; b += 97) some.push_back(b);
  Mismatches wrong;
  for (unsigned a : some) {
    for (unsigned b : some) {
      const half x = bits(a), y = bits(b);
      // volatile: at -O2 g++ 12 threads jumps through several comparisons of the same doubles as if !(v < w)
      // meant v >= w.
      const volatile double v = half_values()[a], w = half_values()[b];
      if (comparisons(x, y) != comparisons(v, w))
        wrong.add([&] { return show(x) + "\n" + show(y) + "\n" + fields(comparisons(x, y), 6, 0); });
    }
  }
  CHECK_NONE(wrong);
  CHECK(bits(0x8000) == bits(0x0000));
  CHECK_FALSE(bits(0x7e00) == bits(0x7e00));
  CHECK(std::max(h(1), h(2)) == h(2));
}

TEST_CASE("half: classification of all 65536") {
  Mismatches wrong;
  for (unsigned b = 0; b < 65536; ++b) {
    const half x = bits(b);
    const double v = half_values()[b];
    const bool same = isnan(x) == std::isnan(v) && isinf(x) == std::isinf(v) &&
                      isfinite(x) == std::isfinite(v) && signbit(x) == (b >= 0x8000) &&
                      abs(x).bits() == (b & 0x7fff);
    if (!same) wrong.add([&] { return show(x); });
  }
  CHECK_NONE(wrong);
}

TEST_CASE("half: numeric_limits are the properties of the format") {
  using Limits = std::numeric_limits<half>;
  static_assert(Limits::is_specialized && Limits::is_iec559 && Limits::is_signed && Limits::is_bounded);
  static_assert(!Limits::is_integer && !Limits::is_exact && Limits::has_infinity && Limits::has_quiet_NaN);
  static_assert(Limits::radix == 2 && std::numeric_limits<const half>::digits == 11);
  const auto value = [](half x) { return value_of_half(x.bits()); };
  CHECK(value(Limits::min()) == std::ldexp(1, Limits::min_exponent - 1));
  CHECK(value(Limits::max()) == std::ldexp(2 - std::ldexp(1, 1 - Limits::digits), Limits::max_exponent - 1));
  CHECK(value(Limits::max()) == 65504);
  CHECK(value(Limits::lowest()) == -65504);
  CHECK(value(Limits::epsilon()) == std::ldexp(1, 1 - Limits::digits));
  CHECK(value(Limits::round_error()) == 0.5);
  CHECK(value(Limits::denorm_min()) == std::ldexp(1, Limits::min_exponent - Limits::digits));
  CHECK(value(Limits::infinity()) == std::numeric_limits<double>::infinity());
  CHECK(Limits::quiet_NaN().bits() == kHalfNaN);
  CHECK(Limits::signaling_NaN().bits() == kHalfNaN);
  CHECK(Limits::min_exponent10 == std::ceil(std::log10(value(Limits::min()))));
  CHECK(Limits::max_exponent10 == std::floor(std::log10(value(Limits::max()))));
  CHECK(Limits::digits10 == std::floor((Limits::digits - 1) * std::log10(2)));
  CHECK(Limits::max_digits10 == std::ceil(1 + Limits::digits * std::log10(2)));
}

TEST_CASE("half: printing") {
  CHECK(to_bit_string(h(1)) == "0 01111 0000000000");
  CHECK(to_bit_string(h(-2)) == "1 10000 0000000000");
  CHECK(to_bit_string(h(0.1f)) == "0 01011 1001100110");
  CHECK(to_bit_string(bits(0x7e00)) == "0 11111 1000000000");
  CHECK(to_bit_string(bits(0x8001)) == "1 00000 0000000001");
  const auto print = [](half x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  CHECK(print(h(1)) == "1");
  CHECK(print(h(-65504)) == "-65504");
  CHECK(print(h(0.1f)) == "0.0999756");
  CHECK(print(bits(0xfc00)) == "-inf");
  CHECK(print(bits(0xffff)) == "nan");
  Mismatches wrong;
  for (unsigned b = 0; b < 0x7c00; ++b)
    if (half(std::stof(print(bits(b)))).bits() != b)
      wrong.add([&] { return show(bits(b)) + " " + print(bits(b)); });
  CHECK_NONE(wrong);
}

#if defined(__x86_64__) && !defined(__clang__) && __GNUC__ >= 12
#define TINYMP_FP16_INTRINSICS
__attribute__((target("avx512fp16"))) void machine_arithmetic(Op op, const std::uint16_t* a,
                                                              const std::uint16_t* b, std::uint16_t* out) {
  const __m512h x = _mm512_castsi512_ph(_mm512_loadu_si512(a));
  const __m512h y = _mm512_castsi512_ph(_mm512_loadu_si512(b));
  __m512h z = _mm512_div_ph(x, y);
  if (op == Op::add) z = _mm512_add_ph(x, y);
  if (op == Op::subtract) z = _mm512_sub_ph(x, y);
  if (op == Op::multiply) z = _mm512_mul_ph(x, y);
  _mm512_storeu_si512(out, _mm512_castph_si512(z));
}

bool machine_has_fp16_arithmetic() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (d & (1u << 23)) != 0;
}
#endif

TEST_CASE("half: 2^22 pairs against a processor that computes in FP16") {
#if defined(TINYMP_FP16_INTRINSICS)
  if (!machine_has_fp16_arithmetic()) SKIP_TEST("this processor has no AVX512-FP16");
  Mismatches wrong;
  sweep(std::uint64_t{1} << 17, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      std::uint16_t a[32], b[32], expected[32];
      for (unsigned j = 0; j < 32; ++j) {
        const std::uint64_t scattered = (i * 32 + j) * 0x9e37'79b9'7f4a'7c15u;
        a[j] = static_cast<std::uint16_t>(scattered >> 48);
        b[j] = static_cast<std::uint16_t>(scattered >> 32);
      }
      for (Op op : kOps) {
        machine_arithmetic(op, a, b, expected);
        for (unsigned j = 0; j < 32; ++j) {
          const half got = apply(op, bits(a[j]), bits(b[j]));
          const bool nan = (expected[j] & 0x7fff) > 0x7c00;
          if (got.bits() != (nan ? kHalfNaN : expected[j]))
            wrong.add(
                [&] { return show(bits(a[j])) + "\n" + show_mismatch(bits(b[j]), got, bits(expected[j])); });
        }
      }
    }
  });
  CHECK_NONE(wrong);
#else
  SKIP_TEST("this compiler does not know AVX512-FP16");
#endif
}

}  // namespace
}  // namespace tinymp::test
