#include <tests/catch.h>
#include <tests/numeric/neighbours.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/rounded.h>
#include <cmath>

/// Every way of rounding to every narrow format, against neighbours.h.
namespace tinymp::test {
namespace {

constexpr Rounding kModes[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down,
                               Rounding::stochastic};
constexpr Overflow kOverflows[] = {Overflow::infinity, Overflow::saturate};
constexpr const char* kNames[] = {"nearest", "toward zero", "up", "down", "stochastic"};

float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

template <class T>
void check(const Neighbours& oracle, const Spec& spec, float x, Rounding mode, std::uint32_t random,
           Mismatches& wrong) {
  for (const Overflow overflow : kOverflows) {
    const unsigned got = rounded<T>(x, mode, random, overflow).bits();
    const unsigned expected = oracle.code(x, mode, random, overflow);
    if (got != expected)
      wrong.add([&] {
        char text[160];
        std::snprintf(text, sizeof text, "%s, %s%s, R = %u\ngot 0x%04x, expected 0x%04x, of\n", spec.name,
                      kNames[static_cast<std::size_t>(mode)],
                      overflow == Overflow::saturate ? ", saturating" : "", random, got, expected);
        return text + show(x);
      });
  }
}

/// Any bits; sizes around the format, from far below its smallest number to above its largest; numbers of the
/// format and the floats beside them; and the specials.
float draw(const Neighbours& oracle, Rng& rng) {
  const std::uint64_t kind = rng.below(8), bits = rng.next_u64();
  const auto any = static_cast<std::uint32_t>(bits);
  const auto& values = oracle.values();
  float x = 0;
  if (kind == 0) {
    static constexpr float specials[] = {0,         INFINITY,        NAN, 0x1p-149f, 0x1.fffffep127f,
                                         0x1p-126f, 0x1.fffffcp-127f};
    x = specials[rng.below(std::size(specials))];
  } else if (kind == 1) {
    x = float_of(any & 0x7fff'ffff);
  } else if (kind == 2) {  // around the largest number, and up to four times as large
    x = static_cast<float>(
        std::min(values.back() * (0.75 + std::ldexp(static_cast<double>(any), -30)), 0x1.fffffep127));
  } else if (kind <= 4) {
    const int lowest = std::ilogb(values[1]) - 36, span = std::ilogb(values.back()) + 2 - lowest;
    const int exponent = lowest + static_cast<int>(rng.below(static_cast<std::uint64_t>(span)));
    x = static_cast<float>(std::ldexp(1 + std::ldexp(static_cast<double>(any >> 9), -23), exponent));
  } else if (kind == 5) {  // among the subnormals
    x = static_cast<float>(values[1] * std::ldexp(static_cast<double>(any >> 8), -20));  // up to 16 of them
  } else {
    x = static_cast<float>(values[rng.below(values.size())]);
    if (kind == 7) x = std::nextafter(x, (any & 2) != 0 ? 0.0f : INFINITY);
  }
  return (bits >> 40 & 1) != 0 ? -x : x;
}

/// A random integer; every second one is next to the one where the result changes.
std::uint32_t draw_random(const Neighbours& oracle, float x, Rng& rng) {
  const std::uint64_t kind = rng.below(8), bits = rng.next_u64();
  const double size = std::fabs(static_cast<double>(x));
  if (kind == 0) return (bits & 1) != 0 ? 0 : 0xffff'ffff;
  if (kind > 3 || !(size < oracle.values().back())) return static_cast<std::uint32_t>(bits);
  const unsigned at = oracle.below(size);
  const double q = 0x1p32 * (size - oracle.values()[at]) / (oracle.values()[at + 1] - oracle.values()[at]);
  const double near = std::floor(q) + static_cast<double>(static_cast<int>(bits % 3) - 1);
  return static_cast<std::uint32_t>(std::clamp(near, 0.0, 0x1p32 - 1));
}

// --- All of it works at compile time. ---
static_assert(rounded_stochastically<half>(1 + 0x1p-11f, 0x7fff'ffff).bits() == 0x3c01);
static_assert(rounded_stochastically<half>(1 + 0x1p-11f, 0x8000'0000).bits() == 0x3c00);
static_assert(rounded<float4_e2m1>(5, Rounding::toward_zero).bits() == 0x6);

TEST_CASE(
    "rounded: 10^6 floats and random integers for each format, stochastic, against the rational definition") {
  for_each_rounded_format([]<class T>(const Spec& spec) {
    const Neighbours oracle(spec);
    Mismatches wrong;
    Rng rng(1905'12334);
    for (int i = 0; i < 1'000'000; ++i) {
      const float x = draw(oracle, rng);
      check<T>(oracle, spec, x, Rounding::stochastic, draw_random(oracle, x, rng), wrong);
    }
    CHECK_NONE(wrong);
  });
}

TEST_CASE("rounded: 10^6 floats for each format, nearest and directed, against the table of values") {
  for_each_rounded_format([]<class T>(const Spec& spec) {
    const Neighbours oracle(spec);
    Mismatches wrong;
    Rng rng(2209'05433);
    for (int i = 0; i < 1'000'000; ++i) {
      const float x = draw(oracle, rng);
      for (const Rounding mode : kModes)
        if (mode != Rounding::stochastic)
          check<T>(oracle, spec, x, mode, static_cast<std::uint32_t>(i), wrong);
    }
    CHECK_NONE(wrong);
  });
}

TEST_CASE("rounded: the numbers of a format never move, the specials neither") {
  for_each_rounded_format([]<class T>(const Spec& spec) {
    Mismatches wrong;
    const Neighbours oracle(spec);
    for (unsigned code = 0; code < codes_of(spec); ++code) {
      const T number = T::from_bits(static_cast<decltype(number.bits())>(code));
      const float x = static_cast<float>(number);
      for (const Rounding mode : kModes)
        for (const std::uint32_t random : {0u, 1u, 0x7fff'ffffu, 0xffff'ffffu}) {
          const unsigned got = rounded<T>(x, mode, random).bits();
          if (got != (x == x ? code : spec.nan))
            wrong.add([&] { return std::string(spec.name) + " moves " + show(x); });
          check<T>(oracle, spec, x, mode, random, wrong);
        }
    }
    CHECK_NONE(wrong);
  });
}

TEST_CASE("rounded: infinity, NaN and overflow") {
  constexpr std::uint32_t never = 0xffff'ffff;
  for (const Rounding mode : {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic}) {
    CHECK(rounded<half>(INFINITY, mode).bits() == 0x7c00);
    CHECK(rounded<half>(-INFINITY, mode, 0, Overflow::saturate).bits() == 0xfbff);
    CHECK(rounded<bfloat16>(-INFINITY, mode).bits() == 0xff80);
    CHECK(rounded<float8_e5m2>(INFINITY, mode).bits() == 0x7c);
    CHECK(rounded<float8_e4m3>(-INFINITY, mode).bits() == 0x7f);
    CHECK(rounded<float8_e4m3>(-INFINITY, mode, 0, Overflow::saturate).bits() == 0xfe);
    CHECK(rounded<float4_e2m1>(-INFINITY, mode).bits() == 0xf);
    CHECK(rounded<float4_e2m1>(-NAN, mode).bits() == 0x7);
    CHECK(rounded<float8_e4m3>(-NAN, mode, 0, Overflow::saturate).bits() == 0x7f);
  }
  CHECK(rounded<float8_e4m3>(1e30f, Rounding::toward_zero).bits() == 0x7e);
  CHECK(rounded<half>(-1e30f, Rounding::toward_zero).bits() == 0xfbff);
  // 464 is the middle of 448 and what would follow.
  CHECK(rounded_stochastically<float8_e4m3>(464, 0x7fff'ffff).bits() == 0x7f);
  CHECK(rounded_stochastically<float8_e4m3>(464, 0x8000'0000).bits() == 0x7e);
  CHECK(rounded_stochastically<float8_e4m3>(464, 0x7fff'ffff, Overflow::saturate).bits() == 0x7e);
  CHECK(rounded_stochastically<float8_e4m3>(480, never).bits() == 0x7f);
  CHECK(rounded_stochastically<float4_e2m1>(-7, 0).bits() == 0xf);
  // Far below the smallest number of E4M3: 2^-41 leads away from zero for one random integer of all.
  CHECK(rounded_stochastically<float8_e4m3>(0x1p-41f, 0).bits() == 1);
  CHECK(rounded_stochastically<float8_e4m3>(0x1p-41f, 1).bits() == 0);
  CHECK(rounded_stochastically<float8_e4m3>(-0x1.fffffep-42f, 0).bits() == 0x80);
  CHECK(rounded_stochastically<bfloat16>(0x1p-149f, 0xffff).bits() == 1);
  CHECK(rounded_stochastically<bfloat16>(0x1p-149f, 0x1'0000).bits() == 0);
}

TEST_CASE("FP4: all codes, and ties go to even") {
  constexpr float values[16] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0f, -0.5, -1, -1.5, -2, -3, -4, -6};
  for (unsigned code = 0; code < 16; ++code) {
    const float value = static_cast<float>(float4_e2m1::from_bits(static_cast<std::uint8_t>(code)));
    CHECK(std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(values[code]));
    CHECK(float4_e2m1(values[code], Overflow::infinity).bits() == code);
  }
  const auto nearest = [](float x) { return static_cast<float>(float4_e2m1(x, Overflow::infinity)); };
  CHECK(nearest(0.25f) == 0);
  CHECK(nearest(0.75f) == 1);
  CHECK(nearest(1.25f) == 1);
  CHECK(nearest(1.75f) == 2);
  CHECK(nearest(2.5f) == 2);
  CHECK(nearest(3.5f) == 4);
  CHECK(nearest(5) == 4);
  CHECK(nearest(-5.01f) == -6);
  CHECK(std::numeric_limits<float4_e2m1>::max() == float4_e2m1(6.0f, Overflow::saturate));
  CHECK_FALSE(std::numeric_limits<float4_e2m1>::has_quiet_NaN);
  CHECK(isfinite(std::numeric_limits<float4_e2m1>::infinity()));
}

}  // namespace
}  // namespace tinymp::test
