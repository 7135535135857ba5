// Exercise 1.2: half to float, all 65,536 of them. The oracle computes f * 2^(e - 25) in double, where all of
// that is exact.

#include <lessons/lab/classroom/judge.h>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace tinymp::exercise {
namespace {

struct Fields {
  bool negative;
  std::uint32_t exponent, fraction;
};

Fields fields_of(std::uint32_t half) { return {half >> 15 != 0, half >> 10 & 31, half & 1023}; }

/// 2^(field - 25): what one step of the fraction is worth.
double unit(std::uint32_t field) { return std::bit_cast<double>(std::uint64_t{1023 - 25 + field} << 52); }

float with_sign(const Fields& of, double size) {
  const std::uint32_t sign = of.negative ? 0x8000'0000u : 0;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(size)) | sign);
}

float value(std::uint32_t half) {
  const Fields of = fields_of(half);
  if (of.exponent == 31 && of.fraction != 0) return std::numeric_limits<float>::quiet_NaN();
  if (of.exponent == 31) return with_sign(of, std::numeric_limits<double>::infinity());
  if (of.exponent == 0) return with_sign(of, of.fraction * unit(1));
  return with_sign(of, (1024 + of.fraction) * unit(of.exponent));
}

// ---- What people write, and how it gives itself away.

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

std::string why(std::uint32_t half, float yours) {
  const Fields of = fields_of(half);
  const float right = value(half);
  if (of.exponent == 1 && of.fraction == 0 && yours == 0)
    return "Your code gives the sign only; the exponent and the fraction are yours to write.";
  if (of.exponent > 0 && of.exponent < 31 &&
      bits_of(yours) == ((half & 0x8000) << 16 | of.exponent << 23 | of.fraction << 13))
    return "Your code copies the exponent as it is: but the bias is 15 in a half, and 127 in a float.";
  if (of.exponent == 31 && of.fraction != 0)
    return "Your code makes something else of NaN. An exponent of ones with a fraction that is not 0 is no "
           "number and no infinity.";
  if (of.exponent == 31)
    return "Your code makes something else of infinity, which has an exponent of ones and no fraction: it is "
           "not the next power of two.";
  if (of.exponent == 0 && of.fraction != 0 && yours == 0)
    return "Your code loses the subnormals: with an exponent field of 0 the value is 0.f * 2^-14, not 0.";
  if (bits_of(yours) == (bits_of(right) ^ 0x8000'0000)) return "Your code loses the sign.";
  if (of.exponent == 0 && bits_of(yours) == bits_of(with_sign(of, (1024 + of.fraction) * unit(0))))
    return "Your code gives subnormals a leading 1: with an exponent field of 0 the value is 0.f * 2^-14.";
  return "Your code gives a float of another value than the half.";
}

void expect_value(Judge& judge, std::uint16_t half, float yours) {
  const float right = value(half);
  judge.expect(bits_of(yours) == bits_of(right), [&] {
    return why(half, yours) + "\n  half     = " + half_fields(half) + "\n  expected = " + decimal(right) +
           "\n  yours    = " + decimal(yours);
  });
}

}  // namespace

void check(Judge& judge) {
  const std::vector<std::uint16_t> first{0x0000, 0x0400, 0x3c00, 0xc000, 0x3555, 0x7bff, 0x0001,
                                         0x03ff, 0x8000, 0x8001, 0x7c00, 0xfc00, 0x7e00, 0xfe01};
  const std::vector<float> values = judge.ask_each<float>(first);
  for (std::size_t i = 0; i < first.size(); ++i) expect_value(judge, first[i], values[i]);
  // Asked in an order that is drawn, so that answers which somebody wrote down are of no use.
  const auto mask = static_cast<std::size_t>(judge.draw() & 0xffff);
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i ^ mask);
  const std::vector<float> yours = judge.ask_each<float>(all);
  for (std::size_t i = 0; i < all.size(); ++i) expect_value(judge, all[i ^ mask], yours[i ^ mask]);
}

}  // namespace tinymp::exercise
