#include <tests/catch.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/float8_e8m0.h>
#include <cmath>

/// E8M0, the power of two that scales a block, against ilogb and ldexp.
namespace tinymp::test {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

static_assert(e8m0_rounded_up(1.5f).bits() == 128 && e8m0_rounded_down(-1.5f).bits() == 127);
static_assert(static_cast<float>(float8_e8m0::from_bits(0)) == 0x1p-127f);

/// The exponent e of 2^e, -127 .. 127, or 128 for NaN, said by value.
int exponent_of(float x, bool up) {
  const double size = std::fabs(static_cast<double>(x));
  if (size != size) return 128;
  if (!(size < 0x1p127)) return 127;
  if (!(size > 0x1p-127)) return -127;
  const int below = std::ilogb(size);
  return up && std::ldexp(1, below) < size ? below + 1 : below;
}

void check(float x, Mismatches& wrong) {
  for (const bool up : {true, false}) {
    const int got = (up ? e8m0_rounded_up(x) : e8m0_rounded_down(x)).bits(),
              expected = exponent_of(x, up) + 127;
    if (got != expected)
      wrong.add([&] {
        return std::string(up ? "up" : "down") + " got " + std::to_string(got) + ", expected " +
               std::to_string(expected) + ", of\n" + show(x);
      });
  }
}

TEST_CASE("E8M0: all codes") {
  for (unsigned code = 0; code < 255; ++code) {
    const auto scale = float8_e8m0::from_bits(static_cast<std::uint8_t>(code));
    const float value = static_cast<float>(scale);
    REQUIRE(static_cast<double>(value) == std::ldexp(1.0, static_cast<int>(code) - 127));
    REQUIRE(e8m0_rounded_up(value).bits() == code);
    REQUIRE(e8m0_rounded_down(value).bits() == code);
    REQUIRE_FALSE(isnan(scale));
  }
  const auto nan = float8_e8m0::from_bits(0xff);
  CHECK(isnan(nan));
  CHECK(std::isnan(static_cast<float>(nan)));
}

TEST_CASE("E8M0: zero, infinity, NaN and the ends") {
  for (const float sign : {1.0f, -1.0f}) {
    CHECK(e8m0_rounded_up(sign * 0).bits() == 0);
    CHECK(e8m0_rounded_up(sign * INFINITY).bits() == 0xfe);
    CHECK(e8m0_rounded_down(sign * INFINITY).bits() == 0xfe);
    CHECK(e8m0_rounded_up(sign * NAN).bits() == 0xff);
    CHECK(e8m0_rounded_down(sign * NAN).bits() == 0xff);
    CHECK(e8m0_rounded_up(sign * largest_float).bits() == 0xfe);
    CHECK(e8m0_rounded_up(sign * 0x1p-149f).bits() == 0);
    CHECK(e8m0_rounded_up(sign * 0x1.000004p-127f).bits() == 1);
    CHECK(e8m0_rounded_down(sign * 0x1.fffffcp-127f).bits() == 0);
    CHECK(e8m0_rounded_up(sign * 0x1.fffffep126f).bits() == 0xfe);
    CHECK(e8m0_rounded_up(sign * 1).bits() == 0x7f);
  }
}

TEST_CASE("E8M0: the floats around every power of two, and floats a stride apart") {
  Mismatches wrong;
  for (int e = -149; e < 128; ++e) {
    const float power = std::ldexp(1.0f, e);
    for (const float x : {std::nextafter(power, 0.0f), power, std::nextafter(power, INFINITY), 1.5f * power})
      for (const float sign : {1.0f, -1.0f}) check(sign * x, wrong);
  }
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4099)
    check(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), wrong);
  CHECK_NONE(wrong);
}

}  // namespace
}  // namespace tinymp::test
