#include <tests/catch.h>
#include <tests/numeric/half_oracle.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/half_codec.h>

namespace tinymp::test {
namespace {

constexpr std::uint64_t kFloats = std::uint64_t{1} << 32;

float float_at(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

void check_bits(float x, std::uint16_t expected, Mismatches& wrong) {
  const std::uint16_t got = half_bits_from_float(x);
  if (got != expected)
    wrong.add([&] { return show_mismatch(x, half::from_bits(got), half::from_bits(expected)); });
}

/// Every stride-th float against eight at a time from `oracle(const float*, std::uint16_t*)`, NaN against the
/// one NaN.
template <class Oracle>
void check_floats(std::uint64_t stride, Mismatches& wrong, Oracle oracle) {
  sweep(kFloats / 8 / stride, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      float in[8];
      std::uint16_t expected[8];
      for (unsigned j = 0; j < 8; ++j) in[j] = float_at((i * 8 + j) * stride);
      oracle(in, expected);
      for (unsigned j = 0; j < 8; ++j) check_bits(in[j], in[j] != in[j] ? kHalfNaN : expected[j], wrong);
    }
  });
}

void nearest_halves(const float* in, std::uint16_t* out) {
  for (int j = 0; j < 8; ++j) out[j] = nearest_half(static_cast<double>(in[j]));
}

TEST_CASE("half codec: worked examples of lesson 1") {
  const auto check = [](float x, std::uint16_t expected) {
    Mismatches wrong;
    check_bits(x, expected, wrong);
    CHECK_NONE(wrong);
  };
  SECTION("exact values") {
    check(0.0f, 0b0'00000'0000000000);
    check(-0.0f, 0b1'00000'0000000000);
    check(1.0f, 0b0'01111'0000000000);
    check(-2.0f, 0b1'10000'0000000000);
    check(65504.0f, 0b0'11110'1111111111);
    check(0x1p-14f, 0b0'00001'0000000000);
    check(0x1p-24f, 0b0'00000'0000000001);
  }
  SECTION("nearest, and of two equally near the even one") {
    check(0.1f, 0b0'01011'1001100110);
    check(2049.0f, 0b0'11010'0000000000);        // between 2048 and 2050: down to the even fraction
    check(2051.0f, 0b0'11010'0000000010);        // between 2050 and 2052: up to the even fraction
    check(0x1.002p0f, 0b0'01111'0000000000);     // between 1 and the next half: down
    check(0x1.002002p0f, 0b0'01111'0000000001);  // a hair above it: up
  }
  SECTION("a carry runs into the exponent") {
    check(0x1.ffffp0f, 0b0'10000'0000000000);
    check(0x1.ffcp-15f,
          0b0'00001'0000000000);  // the middle between the largest subnormal and the smallest normal
  }
  SECTION("the largest values") {
    check(65519.996f, 0b0'11110'1111111111);
    check(65520.0f, 0b0'11111'0000000000);
    check(-65520.0f, 0b1'11111'0000000000);
    check(std::numeric_limits<float>::max(), 0b0'11111'0000000000);
    check(-std::numeric_limits<float>::infinity(), 0b1'11111'0000000000);
  }
  SECTION("the smallest values: a tie at 2^-25 goes to zero, more than that survives") {
    check(0x1p-25f, 0b0'00000'0000000000);
    check(0x1.000002p-25f, 0b0'00000'0000000001);
    check(-0x1p-26f, 0b1'00000'0000000000);
    check(0x1.8p-24f, 0b0'00000'0000000010);
    check(std::numeric_limits<float>::denorm_min(), 0b0'00000'0000000000);
  }
  SECTION("one NaN") {
    for (std::uint32_t nan : {0x7fc0'0000u, 0xffc0'0000u, 0x7f80'0001u, 0xffff'ffffu, 0x7fff'e000u})
      check(float_at(nan), kHalfNaN);
  }
}

static_assert(half_bits_from_float(1.5f) == 0b0'01111'1000000000);
static_assert(float_from_half_bits(0b0'01111'1000000000) == 1.5f);

TEST_CASE("half codec: all 65536 halves become the float of the same value") {
  Mismatches wrong;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto h = static_cast<std::uint16_t>(bits);
    const float got = float_from_half_bits(h);
    const double value = value_of_half(h);
    // The value is a float, so this conversion is exact and keeps the sign of zero.
    const std::uint32_t expected =
        value != value ? 0x7fc0'0000 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (std::bit_cast<std::uint32_t>(got) != expected)
      wrong.add([&] { return show_mismatch(half::from_bits(h), got, float_at(expected)); });
  }
  CHECK_NONE(wrong);
}

TEST_CASE("half codec: a half goes to float and back unchanged") {
  Mismatches wrong;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const bool nan = (bits & 0x7fff) > 0x7c00;
    const auto h = static_cast<std::uint16_t>(bits);
    check_bits(float_from_half_bits(h), nan ? kHalfNaN : h, wrong);
  }
  CHECK_NONE(wrong);
}

TEST_CASE("half codec: the floats around every middle between two halves") {
  Mismatches wrong;
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const double above = bits + 1 == 0x7c00 ? 65536 : value_of_half(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((value_of_half(static_cast<std::uint16_t>(bits)) + above) / 2);
    for (float x : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 1e30f)})
      for (float signed_x : {x, -x}) check_bits(signed_x, nearest_half(static_cast<double>(signed_x)), wrong);
  }
  CHECK_NONE(wrong);
}

TEST_CASE("half codec: floats a stride apart against the table of values") {
  Mismatches wrong;
  check_floats(1009, wrong, nearest_halves);
  CHECK_NONE(wrong);
}

#if defined(__FLT16_MANT_DIG__)
void compiler_halves(const float* in, std::uint16_t* out) {
  for (int j = 0; j < 8; ++j) out[j] = std::bit_cast<std::uint16_t>(static_cast<_Float16>(in[j]));
}
#endif

TEST_CASE("half codec: floats a stride apart against _Float16 of the compiler") {
#if defined(__FLT16_MANT_DIG__)
  Mismatches wrong;
  check_floats(1999, wrong, compiler_halves);
  CHECK_NONE(wrong);
#else
  SKIP_TEST("this compiler has no _Float16 here");
#endif
}

TEST_CASE("half codec: all 2^32 floats against the machine", "[exhaustive]") {
  Mismatches wrong;
#if defined(__x86_64__)
  if (machine_has_f16c()) {
    check_floats(1, wrong, f16c_half_bits);
    CHECK_NONE(wrong);
    return;
  }
#endif
#if defined(__FLT16_MANT_DIG__)
  check_floats(1, wrong,
               compiler_halves);  // the same in minutes: a subroutine of the compiler on most machines
  CHECK_NONE(wrong);
#else
  SKIP_TEST("neither F16C instructions nor _Float16 here");
#endif
}

}  // namespace
}  // namespace tinymp::test
