#include <tests/catch.h>
#include <tinymp/numeric/small_float_codec.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

/// Rounding by bits against rounding of the number that they stand for, in double: floor, ceil, trunc and the
/// machine's own nearest even.
namespace tinymp::test {
namespace {

constexpr Rounding kDirected[] = {Rounding::nearest_even, Rounding::toward_zero, Rounding::up,
                                  Rounding::down};

double rounded(double x, Rounding mode) {
  if (mode == Rounding::nearest_even) return std::nearbyint(x);
  if (mode == Rounding::toward_zero) return std::trunc(x);
  return mode == Rounding::up ? std::ceil(x) : std::floor(x);
}

std::vector<std::uint32_t> magnitudes(int drop) {
  std::vector<std::uint32_t> all;
  const std::uint32_t step = 1u << drop;
  for (const std::uint32_t kept : {0u, 1u, 2u, 3u, 6u, 7u}) {
    if (kept > (~0u >> drop)) continue;
    for (const std::uint32_t rest : {0u, 1u, step / 2 - 1, step / 2, step / 2 + 1, step - 1})
      all.push_back(kept * step + std::min(rest, step - 1));
  }
  all.insert(all.end(), {0x007f'ffff, 0x0080'0000, 0x00ff'ffff, 0x3f80'0000, 0x7f7f'ffff});
  return all;
}

static_assert(without_last_bits(0b101'1, 1, false) == 0b110);
static_assert(without_last_bits(0b100'1, 1, false) == 0b100);
static_assert(without_last_bits(0b100'1, 1, false, Rounding::stochastic, 0) == 0b101);

TEST_CASE("rounding: every mode on both sides of every middle, as the number is rounded in double") {
  int wrong = 0;
  for (int drop = 1; drop < 32; ++drop)
    for (const std::uint32_t magnitude : magnitudes(drop))
      for (const bool negative : {false, true})
        for (const Rounding mode : kDirected) {
          const double x = std::ldexp(negative ? -static_cast<double>(magnitude) : magnitude, -drop);
          const std::uint32_t kept = without_last_bits(magnitude, drop, negative, mode);
          wrong += kept != std::fabs(rounded(x, mode));
        }
  CHECK(wrong == 0);
}

TEST_CASE("rounding: by lot, as many of all lots go up as there are steps to the number below") {
  for (int drop = 1; drop <= 9; ++drop)
    for (std::uint32_t magnitude = 0; magnitude < 3u << drop; ++magnitude) {
      const std::uint32_t below = magnitude >> drop;
      std::uint32_t up = 0, others = 0;
      for (std::uint32_t lot = 0; lot < 1u << drop; ++lot) {
        const std::uint32_t kept =
            without_last_bits(magnitude, drop, true, Rounding::stochastic, lot << (32 - drop) | 0xabc);
        up += kept == below + 1;
        others += kept != below && kept != below + 1;
      }
      REQUIRE(up == magnitude - (below << drop));
      REQUIRE(others == 0);
    }
}

}  // namespace
}  // namespace tinymp::test
