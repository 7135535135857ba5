#include <tests/catch.h>
#include <tests/numeric/show.h>
#include <tests/numeric/small_float_oracle.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/half.h>
#include <cstdlib>
#include <sstream>
#include <type_traits>

namespace tinymp::test {
namespace {

constexpr Overflow kOverflows[] = {Overflow::infinity, Overflow::saturate};

float float_at(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

template <class T>
T code(unsigned bits) {
  return T::from_bits(static_cast<typename T::Bits>(bits));
}

template <class T>
std::string show_code(const Spec& spec, T x) {
  return show(x.bits(), 1 + spec.exponent_bits + spec.fraction_bits, spec.exponent_bits,
              value_of_code(spec, x.bits()));
}

template <class T>
void check_bits(const Spec& spec, float x, Overflow overflow, unsigned expected, Mismatches& wrong) {
  const T got(x, overflow);
  if (got.bits() != expected)
    wrong.add([&] {
      return std::string(spec.name) +
             (overflow == Overflow::saturate ? ", saturating\nof       " : "\nof       ") + show(x) +
             "\ngot      " + show_code(spec, got) + "\nexpected " + show_code(spec, code<T>(expected));
    });
}

// --- What converts and what does not. ---
template <class T>
constexpr bool converts_explicitly_only() {
  return !std::is_convertible_v<float, T> && std::is_constructible_v<float, T> &&
         !std::is_convertible_v<T, float> && std::is_constructible_v<T, float, Overflow> &&
         !std::is_constructible_v<T, double, Overflow> && !std::is_constructible_v<T, int, Overflow> &&
         !std::is_constructible_v<T, double> && !std::is_constructible_v<T, int> &&
         !std::is_constructible_v<T, unsigned char> && !std::is_constructible_v<T, half> &&
         !std::is_constructible_v<half, T> && std::is_trivial_v<T>;
}
static_assert(converts_explicitly_only<bfloat16>() && std::is_constructible_v<bfloat16, float>);
static_assert(converts_explicitly_only<float8_e4m3>() && !std::is_constructible_v<float8_e4m3, float>);
static_assert(converts_explicitly_only<float8_e5m2>() && !std::is_constructible_v<float8_e5m2, float>);
static_assert(!std::is_constructible_v<float8_e5m2, float8_e4m3>);
template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};
static_assert(Addable<bfloat16, bfloat16> && !Addable<bfloat16, float> && !Addable<bfloat16, half>);
static_assert(!Addable<float8_e4m3, float8_e4m3> && !Addable<float8_e5m2, float8_e5m2>);

// --- All of it works at compile time. ---
static_assert((bfloat16(1.5f) + bfloat16(0.25f)).bits() == bfloat16(1.75f).bits());
static_assert(static_cast<float>(bfloat16::from_bits(1)) == 0x1p-133f);
static_assert(float8_e4m3(-1000.0f, Overflow::saturate) == std::numeric_limits<float8_e4m3>::lowest());

TEST_CASE("small floats: worked examples") {
  const auto check = [](auto got, unsigned expected) {
    INFO(to_bit_string(got));
    CHECK(got.bits() == expected);
  };
  SECTION("bfloat16 is the upper half of a float, rounded") {
    check(bfloat16(1.0f), 0b0'01111111'0000000);
    check(bfloat16(-2.0f), 0b1'10000000'0000000);
    check(bfloat16(0.1f), 0b0'01111011'1001101);
    check(bfloat16(257.0f), 0b0'10000111'0000000);       // between 256 and 258: down to the even fraction
    check(bfloat16(259.0f), 0b0'10000111'0000010);       // between 258 and 260: up to the even fraction
    check(bfloat16(0x1.ffp127f), 0b0'11111111'0000000);  // the middle above the largest: infinity
    check(bfloat16(0x1.fefffep127f), 0b0'11111110'1111111);
    check(bfloat16(0x1p-134f), 0);  // a tie goes to zero, more than that survives
    check(bfloat16(0x1.8p-134f), 0b0'00000000'0000001);
    check(bfloat16(0x1.fcp-127f), 0b0'00000000'1111111);  // subnormal here and as a float
    check(bfloat16(0x1.ffp-127f), 0b0'00000001'0000000);
    check(bfloat16(1e38f, Overflow::saturate), 0b0'11111101'0010110);
    check(bfloat16(0x1.ffp127f, Overflow::saturate), 0b0'11111110'1111111);
  }
  SECTION("float8_e4m3 has one NaN and no infinity") {
    const auto e4m3 = [](float x, Overflow overflow) { return float8_e4m3(x, overflow); };
    for (Overflow overflow : kOverflows) {
      check(e4m3(1, overflow), 0b0'0111'000);
      check(e4m3(448, overflow), 0b0'1111'110);
      check(e4m3(464, overflow), 0b0'1111'110);  // a tie with what would be 480: down to the even one
      check(e4m3(0x1p-9f, overflow), 0b0'0000'001);
      check(e4m3(-0x1p-10f, overflow), 0b1'0000'000);
      check(e4m3(NAN, overflow), 0b0'1111'111);
      check(e4m3(-NAN, overflow), 0b0'1111'111);
    }
    check(e4m3(465, Overflow::infinity), 0b0'1111'111);
    check(e4m3(465, Overflow::saturate), 0b0'1111'110);
    check(e4m3(-INFINITY, Overflow::infinity), 0b0'1111'111);
    check(e4m3(-INFINITY, Overflow::saturate), 0b1'1111'110);
  }
  SECTION("float8_e5m2 is IEEE's") {
    check(float8_e5m2(1.0f, Overflow::infinity), 0b0'01111'00);
    check(float8_e5m2(61439.996f, Overflow::infinity), 0b0'11110'11);
    check(float8_e5m2(61440.0f, Overflow::infinity), 0b0'11111'00);
    check(float8_e5m2(-61440.0f, Overflow::saturate), 0b1'11110'11);
    check(float8_e5m2(INFINITY, Overflow::saturate), 0b0'11110'11);
    check(float8_e5m2(NAN, Overflow::saturate), 0b0'11111'10);
    check(float8_e5m2(0x1p-16f, Overflow::infinity), 0b0'00000'01);
  }
  SECTION("once, not twice: rounding to half on the way gives another number") {
    const float x = 1 + 0x1p-4f + 0x1p-13f;  // just above the middle of 1 and the next float8_e4m3
    check(float8_e4m3(x, Overflow::infinity), 0b0'0111'001);
    check(float8_e4m3(static_cast<float>(half(x)), Overflow::infinity), 0b0'0111'000);
  }
}

TEST_CASE("small floats: every code becomes the float of the same value, and comes back") {
  for_each_small_format([]<class T>(const Spec& spec) {
    Mismatches wrong;
    for (unsigned c = 0; c < codes_of(spec); ++c) {
      const double value = value_of_code(spec, c);
      const float got = static_cast<float>(code<T>(c));
      // The value is a float, so this conversion is exact and keeps the sign of zero.
      const std::uint32_t expected =
          value != value ? 0x7fc0'0000 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
      if (std::bit_cast<std::uint32_t>(got) != expected)
        wrong.add([&] { return show_code(spec, code<T>(c)) + "\ngot " + show(got); });
      check_bits<T>(spec, got, Overflow::infinity, value != value ? spec.nan : c, wrong);
    }
    CHECK_NONE(wrong);
  });
}

TEST_CASE("small floats: the floats around every middle between two codes") {
  for_each_small_format([]<class T>(const Spec& spec) {
    const NearestCode nearest(spec);
    Mismatches wrong;
    for (std::size_t i = 0; i + 1 < nearest.values().size(); ++i) {
      const auto middle = static_cast<float>((nearest.values()[i] + nearest.values()[i + 1]) / 2);
      for (float x : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, INFINITY)})
        for (float signed_x : {x, -x})
          for (Overflow overflow : kOverflows)
            check_bits<T>(spec, signed_x, overflow, nearest(static_cast<double>(signed_x), overflow), wrong);
    }
    CHECK_NONE(wrong);
  });
}

TEST_CASE("small floats: every exponent of a float with every pattern at the edges of its fraction") {
  std::vector<std::uint32_t> fractions;
  for (int top = 0; top <= 23; ++top) {
    for (int kept = 0; kept < 4; ++kept) {  // a run of ones ending at `top`, with bits below it or without
      const std::uint32_t run = (0x7f'ffffu >> top) & ~(0x7f'ffffu >> top >> (kept == 0 ? 23 : kept));
      for (std::uint32_t below : {0u, 1u, 0x7fu, 0x1fffu}) fractions.push_back((run | below) & 0x7f'ffffu);
      fractions.push_back((run - 1) & 0x7f'ffffu);
    }
  }
  for_each_small_format([&]<class T>(const Spec& spec) {
    const NearestCode nearest(spec);
    Mismatches wrong;
    for (std::uint32_t sign_and_exponent = 0; sign_and_exponent < 512; ++sign_and_exponent)
      for (std::uint32_t fraction : fractions)
        for (Overflow overflow : kOverflows) {
          const float x = float_at(sign_and_exponent << 23 | fraction);
          check_bits<T>(spec, x, overflow, nearest(static_cast<double>(x), overflow), wrong);
        }
    CHECK_NONE(wrong);
  });
}

TEST_CASE("small floats: floats a stride apart against the table of values") {
  for_each_small_format([]<class T>(const Spec& spec) {
    const NearestCode nearest(spec);
    Mismatches wrong;
    sweep((std::uint64_t{1} << 32) / 4099, [&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t i = first; i < last; ++i)
        for (Overflow overflow : kOverflows) {
          const float x = float_at(i * 4099);
          check_bits<T>(spec, x, overflow, nearest(static_cast<double>(x), overflow), wrong);
        }
    });
    CHECK_NONE(wrong);
  });
}

TEST_CASE("small floats: with the numbers of binary16 the text is half_codec.h") {
  using Layout = FloatLayout<5, 10, Specials::ieee>;
  std::uint64_t wrong = 0;
  for (unsigned c = 0; c < 65536; ++c) {
    const auto h = static_cast<std::uint16_t>(c);
    wrong += std::bit_cast<std::uint32_t>(float_from_small_bits<Layout>(h)) !=
             std::bit_cast<std::uint32_t>(float_from_half_bits(h));
  }
  for (std::uint64_t b = 0; b < std::uint64_t{1} << 32; b += 997) {
    const float x = float_at(b);
    wrong += small_bits_from_float<Layout>(x, Overflow::infinity) != half_bits_from_float(x);
  }
  CHECK(wrong == 0);
}

/// The results of all six as bits.
template <class T>
unsigned comparisons(const T& x, const T& y) {
  unsigned bits = 0;
  for (bool result : {x == y, x != y, x<y, x> y, x <= y, x >= y}) bits = bits * 2 + (result ? 1 : 0);
  return bits;
}

TEST_CASE("small floats: comparisons and classification are those of the values") {
  for_each_small_format([]<class T>(const Spec& spec) {
    Mismatches wrong;
    const unsigned step = spec.exponent_bits == 8 ? 151 : 1;
    for (unsigned a = 0; a < codes_of(spec); a += step) {
      const T x = code<T>(a);
      const volatile double v = value_of_code(spec, a);  // volatile: see half_test.cpp
      const bool negative = a >= codes_of(spec) / 2;
      if (isnan(x) != std::isnan(v) || isinf(x) != std::isinf(v) || isfinite(x) != std::isfinite(v) ||
          signbit(x) != negative || abs(x).bits() != a % (codes_of(spec) / 2) ||
          (-x).bits() != (std::isnan(v) ? a : a ^ (codes_of(spec) / 2)) || (+x).bits() != a)
        wrong.add([&] { return show_code(spec, x); });
      for (unsigned b = 0; b < codes_of(spec); b += step) {
        const T y = code<T>(b);
        const volatile double w = value_of_code(spec, b);
        if (comparisons(x, y) != comparisons(v, w))
          wrong.add([&] { return show_code(spec, x) + "\n" + show_code(spec, y); });
      }
    }
    CHECK_NONE(wrong);
    CHECK(code<T>(codes_of(spec) / 2) == code<T>(0));
  });
}

TEST_CASE("small floats: numeric_limits are the properties of the format") {
  for_each_small_format([]<class T>(const Spec& spec) {
    using Limits = std::numeric_limits<T>;
    INFO(spec.name);
    const auto value = [&](T x) { return value_of_code(spec, x.bits()); };
    CHECK(Limits::has_infinity == spec.has_infinity);
    CHECK(Limits::is_iec559 == spec.has_infinity);
    CHECK(Limits::digits == spec.fraction_bits + 1);
    CHECK(value(Limits::min()) == std::ldexp(1, Limits::min_exponent - 1));
    CHECK(value(Limits::min()) == std::ldexp(1, 1 - spec.bias));
    CHECK(value(Limits::max()) == spec.largest);
    CHECK(value(Limits::lowest()) == -spec.largest);
    CHECK(std::ilogb(value(Limits::max())) == Limits::max_exponent - 1);
    CHECK(value(Limits::epsilon()) == std::ldexp(1, 1 - Limits::digits));
    CHECK(value(Limits::round_error()) == 0.5);
    CHECK(value(Limits::denorm_min()) == std::ldexp(1, Limits::min_exponent - Limits::digits));
    CHECK(Limits::quiet_NaN().bits() == spec.nan);
    if (spec.has_infinity) CHECK(value(Limits::infinity()) == std::numeric_limits<double>::infinity());
    if (!spec.has_infinity) CHECK(isnan(Limits::infinity()));
    CHECK(Limits::min_exponent10 == std::ceil(std::log10(value(Limits::min()))));
    CHECK(Limits::max_exponent10 == std::floor(std::log10(value(Limits::max()))));
    CHECK(Limits::digits10 == std::floor((Limits::digits - 1) * std::log10(2)));
    CHECK(Limits::max_digits10 == std::ceil(1 + Limits::digits * std::log10(2)));
  });
}

TEST_CASE("small floats: printing") {
  CHECK(to_bit_string(bfloat16(1.0f)) == "0 01111111 0000000");
  CHECK(to_bit_string(float8_e4m3(-448.0f, Overflow::saturate)) == "1 1111 110");
  CHECK(to_bit_string(float8_e5m2(0x1p-16f, Overflow::saturate)) == "0 00000 01");
  for_each_small_format([]<class T>(const Spec& spec) {
    Mismatches wrong;
    for (unsigned c = 0; c < codes_of(spec) / 2; ++c) {
      const double value = value_of_code(spec, c);
      std::ostringstream out;
      out << code<T>(c);
      const bool same = std::isfinite(value)
                            ? T(std::strtof(out.str().c_str(), nullptr), Overflow::infinity).bits() == c
                            : out.str() == (std::isnan(value) ? "nan" : "inf");
      if (!same && value >= 0x1p-126)
        wrong.add([&] { return show_code(spec, code<T>(c)) + " " + out.str(); });
    }
    CHECK_NONE(wrong);
  });
}

/// The exact sum rounded "to odd", so that it can be rounded again (half_from_double in convert.h says why).
double to_odd(double nearest, double error) {
  const auto bits = std::bit_cast<std::uint64_t>(nearest);
  if (error == 0 || !std::isfinite(nearest) || bits % 2 == 1) return nearest;
  return std::bit_cast<double>((error > 0) == (nearest > 0) ? bits + 1 : bits - 1);
}

double exact_sum(double a, double b) {
  const double s = a + b, part = s - a;
  return to_odd(s, (a - (s - part)) + (b - part));  // Knuth's two-sum
}

double exact_quotient(double a, double b) {
  const double q = a / b;
  if (!std::isfinite(q) || q == 0) return q;
  const double remainder = std::fma(-q, b, a);
  return to_odd(q, std::signbit(b) ? -remainder : remainder);
}

TEST_CASE("bfloat16: sum, difference, product and quotient are rounded once") {
  std::vector<unsigned> some = {0x0000, 0x0001, 0x0002, 0x0003, 0x007f, 0x0080, 0x0081,
                                0x00ff, 0x3f7f, 0x3f80, 0x3f81, 0x4000, 0x7f00, 0x7f7f,
                                0x7f80, 0x7fc0, 0x1fff, 0x2000, 0x2001, 0x5f80};
  for (unsigned c = 0; c < 0x7f80; c += 61) some.push_back(c);
  const NearestCode nearest(bfloat16_spec);
  Mismatches wrong;
  const auto check = [&](char op, bfloat16 x, bfloat16 y, bfloat16 got, double exact) {
    const unsigned expected = nearest(exact, Overflow::infinity);
    if (got.bits() != expected)
      wrong.add([&] {
        return std::string(1, op) + "  of  " + show_code(bfloat16_spec, x) + "\nand      " +
               show_code(bfloat16_spec, y) + "\ngot      " + show_code(bfloat16_spec, got) + "\nexpected " +
               show_code(bfloat16_spec, code<bfloat16>(expected));
      });
  };
  for (unsigned i : some)
    for (unsigned j : some)
      for (unsigned signs = 0; signs < 4; ++signs) {
        const bfloat16 x = code<bfloat16>(i | (signs & 1) << 15), y = code<bfloat16>(j | (signs & 2) << 14);
        const double a = value_of_code(bfloat16_spec, x.bits()), b = value_of_code(bfloat16_spec, y.bits());
        check('+', x, y, x + y, exact_sum(a, b));
        check('-', x, y, x - y, exact_sum(a, -b));
        check('*', x, y, x * y, a * b);
        check('/', x, y, x / y, exact_quotient(a, b));
      }
  CHECK_NONE(wrong);
  bfloat16 x(3.0f);
  x += bfloat16(1.0f);
  x -= bfloat16(6.0f);
  x *= bfloat16(0.5f);
  x /= bfloat16(4.0f);
  CHECK(x.bits() == bfloat16(-0.25f).bits());
}

TEST_CASE("bfloat16: subnormal products and quotients are rounded once, for every pair of significands") {
  // Exponents such that the results lie around every middle of the subnormals.
  const NearestCode nearest(bfloat16_spec);
  std::uint64_t wrong = 0;
  for (unsigned i = 0; i < 128; ++i)
    for (unsigned j = 0; j < 128; ++j)
      for (unsigned down = 0; down < 10; ++down) {
        const bfloat16 x = code<bfloat16>(0x1f80 + i - (down << 7)), y = code<bfloat16>(0x2000 + j);
        const bfloat16 z = code<bfloat16>(0x0a00 + i), w = code<bfloat16>(0x4980 + j + (down << 7));
        const double a = value_of_code(bfloat16_spec, x.bits()), b = value_of_code(bfloat16_spec, y.bits());
        const double c = value_of_code(bfloat16_spec, z.bits()), d = value_of_code(bfloat16_spec, w.bits());
        wrong += (x * y).bits() != nearest(a * b, Overflow::infinity);
        wrong += (z / w).bits() != nearest(exact_quotient(c, d), Overflow::infinity);
      }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace tinymp::test
