#include <tests/base/child.h>
#include <tests/catch.h>
#include <tests/numeric/half_oracle.h>
#include <tests/numeric/show.h>
#include <tests/numeric/small_float_oracle.h>
#include <tests/numeric/sweep.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/convert.h>
#include <string>
#include <vector>

namespace tinymp::test {
namespace {

bool same_bits(half a, half b) { return a.bits() == b.bits(); }
bool same_bits(bfloat16 a, bfloat16 b) { return a.bits() == b.bits(); }
bool same_bits(float8_e4m3 a, float8_e4m3 b) { return a.bits() == b.bits(); }
bool same_bits(float8_e5m2 a, float8_e5m2 b) { return a.bits() == b.bits(); }
bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// convert(in) against `one` called on each element.
template <class In, class Out, class One>
void check_bulk(const std::vector<In>& in, std::vector<Out>& out, Mismatches& wrong, One one) {
  out.resize(in.size());
  convert(in, out);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!same_bits(out[i], one(in[i]))) wrong.add([&] { return show_mismatch(in[i], out[i], one(in[i])); });
}

std::vector<half> all_halves() {
  std::vector<half> halves(65536);
  for (unsigned b = 0; b < halves.size(); ++b) halves[b] = half::from_bits(static_cast<std::uint16_t>(b));
  return halves;
}

/// Bulk conversion of every stride-th float against `one` called on each, and rounding there and back.
template <class Narrow, class One>
void check_floats(std::uint64_t stride, Mismatches& wrong, One one) {
  sweep((std::uint64_t{1} << 32) / stride, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<float> in(1 << 14), back;
    std::vector<Narrow> out;
    for (std::uint64_t block = first; block < last; block += in.size()) {
      for (std::uint64_t i = 0; i < in.size(); ++i)
        in[i] = std::bit_cast<float>(static_cast<std::uint32_t>((block + i) * stride));
      check_bulk(in, out, wrong, one);
      back = in;
      round_to(dtype_of<Narrow>, back);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const auto expected = static_cast<float>(out[i]);
        if (!same_bits(back[i], expected)) wrong.add([&] { return show_mismatch(in[i], back[i], expected); });
      }
    }
  });
}
void check_floats(std::uint64_t stride) {
  Mismatches wrong;
  check_floats<half>(stride, wrong, [](float x) { return half::from_bits(half_bits_from_float(x)); });
  check_floats<bfloat16>(stride, wrong, [](float x) { return bfloat16(x); });
  check_floats<float8_e4m3>(stride, wrong, [](float x) { return float8_e4m3(x, Overflow::infinity); });
  check_floats<float8_e5m2>(stride, wrong, [](float x) { return float8_e5m2(x, Overflow::infinity); });
  INFO("half by the " << half_conversion());
  CHECK_NONE(wrong);
}

TEST_CASE("convert: half to float in bulk is the codec, for all 65536") {
  Mismatches wrong;
  std::vector<float> out;
  check_bulk(all_halves(), out, wrong, [](half x) { return float_from_half_bits(x.bits()); });
  INFO("by the " << half_conversion());
  CHECK_NONE(wrong);
}

TEST_CASE("convert: floats narrowed in bulk are those of the codecs, for floats a stride apart") {
  check_floats(251);
}

TEST_CASE("convert: floats narrowed in bulk are those of the codecs, for all 2^32 floats", "[exhaustive]") {
  check_floats(1);
}

TEST_CASE("convert: TINYMP_ISA=avx2 is as good as the widest") {
  for (const std::string test :
       {"convert: half to float in bulk is the codec, for all 65536",
        "convert: floats narrowed in bulk are those of the codecs, for floats a stride apart",
        "convert: every length and alignment, and not one element further"}) {
    const std::optional<ChildResult> result = run_again("TINYMP_ISA=avx2", test);
    if (!result) SKIP_TEST("this system does not say where the running program lies");
    if (result->output.find("which this processor cannot run") != std::string::npos)
      SKIP_TEST("this processor does not have that instruction set");
    INFO(result->output);
    CHECK(result->status == 0);
    CHECK(result->output.find("All tests passed") != std::string::npos);
  }
}

TEST_CASE("convert: every length and alignment, and not one element further") {
  constexpr float kGuard = 12345;
  Mismatches wrong;
  for (std::size_t length = 0; length <= 40; ++length) {
    for (std::size_t start = 0; start < 9; ++start) {
      std::vector<float> floats(64, kGuard), back(64, kGuard);
      std::vector<half> halves(64, half(7.0f));
      for (std::size_t i = 0; i < length; ++i) floats[start + i] = static_cast<float>(i) * 0.3f - 5;
      convert(std::span<const float>(floats).subspan(start, length),
              std::span(halves).subspan(start, length));
      convert(std::span<const half>(halves).subspan(start, length), std::span(back).subspan(start, length));
      for (std::size_t i = 0; i < 64; ++i) {
        const bool inside = i >= start && i < start + length;
        const half expected = inside ? half(floats[i]) : half(7.0f);
        if (!same_bits(halves[i], expected))
          wrong.add([&] { return show_mismatch(floats[i], halves[i], expected); });
        const float wide = inside ? static_cast<float>(expected) : kGuard;
        if (!same_bits(back[i], wide)) wrong.add([&] { return show_mismatch(halves[i], back[i], wide); });
      }
    }
  }
  CHECK_NONE(wrong);
}

TEST_CASE("convert: double to half rounds once") {
  Mismatches wrong;
  std::vector<double> in = {0.0, -0.0, std::nan(""), -std::nan("7"), 1e300, -1e-300, 65519.999999, 65520.0};
  for (unsigned b = 0; b < 0x7c00; ++b) {
    const double low = value_of_half(static_cast<std::uint16_t>(b));
    const double high = b + 1 == 0x7c00 ? 65536 : value_of_half(static_cast<std::uint16_t>(b + 1));
    const double middle = (low + high) / 2;
    // A double next to the middle becomes the middle as a float: here rounding twice goes wrong.
    for (double x :
         {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e30), low + (high - low) / 3})
      for (double signed_x : {x, -x}) in.push_back(signed_x);
  }
  std::vector<half> out;
  check_bulk(in, out, wrong, [](double x) { return half::from_bits(nearest_half(x)); });
  CHECK_NONE(wrong);
  const double above_middle = 1 + 0x1p-11 + 0x1p-50;
  CHECK(half_from_double(above_middle).bits() == 0x3c01);
  CHECK(half(static_cast<float>(above_middle)).bits() == 0x3c00);  // what rounding twice gives
}

TEST_CASE("convert: double to bfloat16 rounds once, far beyond the range of float too") {
  const NearestCode nearest(bfloat16_spec);
  std::vector<double> in = {std::nan(""),          1e300, 1e-300, 0x1.fefffffffffffp127, 0x1.ffp127, 0x1p-134,
                            0x1.0000000000001p-134};
  for (std::size_t i = 0; i + 1 < nearest.values().size(); i += 3) {
    const double low = nearest.values()[i], high = nearest.values()[i + 1], middle = (low + high) / 2;
    for (double x : {low, middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)})
      in.push_back(x);
  }
  for (std::size_t i = 0, n = in.size(); i < n; ++i) in.push_back(-in[i]);
  Mismatches wrong;
  std::vector<bfloat16> out;
  check_bulk(in, out, wrong, [&](double x) {
    return bfloat16::from_bits(static_cast<std::uint16_t>(nearest(x, Overflow::infinity)));
  });
  CHECK_NONE(wrong);
}

TEST_CASE("convert: bfloat16 to and from the other formats, in bulk as one by one") {
  Mismatches wrong;
  std::vector<bfloat16> codes(65536), narrow;
  for (unsigned c = 0; c < codes.size(); ++c) codes[c] = bfloat16::from_bits(static_cast<std::uint16_t>(c));
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<half> halves;
  check_bulk(codes, floats, wrong, [](bfloat16 x) { return static_cast<float>(x); });
  check_bulk(codes, doubles, wrong, [](bfloat16 x) {
    const double value = value_of_code(bfloat16_spec, x.bits());
    return value != value ? std::numeric_limits<double>::quiet_NaN() : value;
  });
  check_bulk(codes, halves, wrong, [](bfloat16 x) {
    return half::from_bits(nearest_half(value_of_code(bfloat16_spec, x.bits())));
  });
  check_bulk(floats, narrow, wrong, [](float x) { return bfloat16(x); });
  const NearestCode nearest(bfloat16_spec);
  check_bulk(all_halves(), narrow, wrong, [&](half x) {
    return bfloat16::from_bits(
        static_cast<std::uint16_t>(nearest(value_of_half(x.bits()), Overflow::infinity)));
  });
  CHECK_NONE(wrong);
  CHECK((convert(codes, narrow), narrow[0xff81].bits() == 0xff81));  // the bits within one format
  CHECK_THROWS_AS(convert(codes, std::span(floats).first(2)), Error);
}

TEST_CASE("convert: half to double, float to double, double to float") {
  Mismatches wrong;
  std::vector<double> doubles;
  check_bulk(all_halves(), doubles, wrong, [](half x) {
    const double value = value_of_half(x.bits());
    return value != value ? std::numeric_limits<double>::quiet_NaN() : value;
  });
  std::vector<float> floats;
  check_bulk(std::vector<double>{0.1, -0.0, 1e300, -1e-300, 0x1.000001p0}, floats, wrong,
             [](double x) { return static_cast<float>(x); });
  check_bulk(std::vector<float>{0.1f, -0.0f, 1e-45f, -INFINITY}, doubles, wrong,
             [](float x) { return static_cast<double>(x); });
  CHECK_NONE(wrong);
}

TEST_CASE("convert: one NaN between formats, the bits within one") {
  const std::vector<float> nan_floats = {std::bit_cast<float>(0xffc0'1234u),
                                         std::bit_cast<float>(0x7f80'0001u)};
  const std::vector<double> nan_doubles = {std::bit_cast<double>(0xfff8'0000'0000'1234u), -std::nan("1")};
  const std::vector<half> nan_halves = {half::from_bits(0xfe01), half::from_bits(0x7c01)};
  std::vector<float> floats(2);
  std::vector<double> doubles(2);
  std::vector<half> halves(2);
  const auto all_canonical = [&](auto& out, auto nan) {
    return same_bits(out[0], nan) && same_bits(out[1], nan);
  };
  const half half_nan = half::from_bits(kHalfNaN);
  const auto float_nan = std::bit_cast<float>(0x7fc0'0000u);
  const auto double_nan = std::bit_cast<double>(0x7ff8'0000'0000'0000u);
  CHECK((convert(nan_floats, halves), all_canonical(halves, half_nan)));
  CHECK((convert(nan_doubles, halves), all_canonical(halves, half_nan)));
  CHECK((convert(nan_halves, floats), all_canonical(floats, float_nan)));
  CHECK((convert(nan_doubles, floats), all_canonical(floats, float_nan)));
  CHECK((convert(nan_halves, doubles), all_canonical(doubles, double_nan)));
  CHECK((convert(nan_floats, doubles), all_canonical(doubles, double_nan)));
  CHECK((convert(nan_floats, floats),
         same_bits(floats[0], nan_floats[0]) && same_bits(floats[1], nan_floats[1])));
  CHECK((convert(nan_halves, halves),
         same_bits(halves[0], nan_halves[0]) && same_bits(halves[1], nan_halves[1])));
  CHECK((convert(nan_doubles, doubles), same_bits(doubles[0], nan_doubles[0])));
}

TEST_CASE("convert: arrays of different lengths are refused") {
  std::vector<float> floats(3);
  std::vector<half> halves(4);
  std::vector<double> doubles(5);
  CHECK_THROWS_WITH(convert(floats, halves),
                    "convert: 3 values do not fit 4; give two arrays of the same length");
  CHECK_THROWS_AS(convert(halves, floats), Error);
  CHECK_THROWS_AS(convert(doubles, halves), Error);
  CHECK_THROWS_AS(convert(halves, doubles), Error);
  CHECK_THROWS_AS(convert(floats, doubles), Error);
  CHECK_THROWS_AS(convert(doubles, floats), Error);
  CHECK_THROWS_AS(convert(doubles, std::span(doubles).first(2)), Error);
}

TEST_CASE("convert: uses F16C where the machine has it") {
#if defined(__x86_64__)
  CHECK(std::string(half_conversion()) ==
        (machine_has_f16c() && matches_f16c ? "F16C instructions" : "half_codec.h"));
#else
  CHECK(std::string(half_conversion()) == "half_codec.h");
#endif
}

}  // namespace
}  // namespace tinymp::test
