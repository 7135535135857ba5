#include <tests/catch.h>
#include <tests/numeric/neighbours.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/rounded.h>
#include <cmath>

/// The mean of many roundings is the number itself; cheaper definitions have another mean. All seeds were fixed
/// before the first run.
namespace tinymp::test {
namespace {

constexpr int kDraws = 1'000'000;
constexpr double kMostErrors = 5.5;  // standard errors; by chance more than that once in 26 million values

/// A number, and the probability with which it should go away from zero.
struct Sample {
  float x;
  double lo, hi, p;
};

/// A float between two neighbours, each pair of them equally likely, subnormals too, and the pair behind the largest
/// number where the format overflows. Nearer than a thousandth to one of them, a mean of 10^6 draws would say little.
Sample draw_sample(const Neighbours& oracle, const Spec& spec, Rng& rng) {
  const auto& values = oracle.values();
  const std::size_t pairs = values.size() - (spec.largest > 6 ? 1 : 2);
  for (;;) {
    const auto at = static_cast<std::size_t>(rng.below(pairs));
    const double u = static_cast<double>(rng.next_u64() >> 11) * 0x1p-53;
    const double lo = values[at], hi = values[at + 1];
    const auto x = static_cast<float>(lo + u * (hi - lo));
    const double p = (static_cast<double>(x) - lo) / (hi - lo);
    if (p > 0.001 && p < 0.999) return {x, lo, hi, p};
  }
}

/// The mean of many draws differs from x by this many standard errors. `away` says of each whether it went away from
/// zero.
template <class Away>
double errors_of_mean(const Sample& of, Rng rng, Away&& away) {
  std::int64_t count = 0;
  for (int i = 0; i < kDraws; ++i) count += away(static_cast<std::uint32_t>(rng.next_u64() >> 32));
  return (static_cast<double>(count) - of.p * kDraws) / std::sqrt(of.p * (1 - of.p) * kDraws);
}

template <class T>
void check_means(const Spec& spec, std::uint64_t seed, std::uint64_t samples) {
  const Neighbours oracle(spec);
  Mismatches wrong;
  std::vector<Sample> drawn;
  Rng rng(seed);
  for (std::uint64_t i = 0; i < samples; ++i) drawn.push_back(draw_sample(oracle, spec, rng));
  // A sweep hands out a million at a time: here one of them is a sample.
  sweep(samples << 20, [&](std::uint64_t first, std::uint64_t) {
    const std::uint64_t i = first >> 20;
    const Sample& of = drawn[i];
    const unsigned lo = rounded<T>(of.x, Rounding::toward_zero).bits();
    const double errors = errors_of_mean(of, Rng(seed).split(i), [&](std::uint32_t random) {
      const unsigned code = rounded_stochastically<T>(of.x, random).bits();
      if (code != lo && code != lo + 1) wrong.add([&] { return "no neighbour of " + show(of.x); });
      return code != lo;
    });
    if (!(std::fabs(errors) <= kMostErrors))
      wrong.add([&] {
        return std::string(spec.name) + ": " + std::to_string(errors) + " standard errors, of " + show(of.x);
      });
  });
  CHECK_NONE(wrong);
}

TEST_CASE("stochastic rounding: the mean of 10^6 draws is the number") {
  for_each_rounded_format([]<class T>(const Spec& spec) { check_means<T>(spec, 42, 8); });
}

TEST_CASE("stochastic rounding: the mean of 10^6 draws is the number, 1,000 numbers of each format",
          "[exhaustive]") {
  for_each_rounded_format([]<class T>(const Spec& spec) { check_means<T>(spec, 2026, 1000); });
}

/// Both neighbours of x are at a distance of `steps` and 1 - steps of a step. Returns the mean of `up` over all lots,
/// less `steps`: the bias, in steps.
template <class Up>
double bias(double steps, std::uint32_t lots, Up&& up) {
  std::int64_t count = 0;
  for (std::uint32_t lot = 0; lot < lots; ++lot) count += up(lot);
  return static_cast<double>(count) / lots - steps;
}

/// gfloat's StochasticFastest compares a number of r bits, cut off, with r random bits. The numbers below it go away
/// from zero too rarely, by half of 2^-r of a step in the mean.
TEST_CASE("stochastic rounding: with few random bits and a cut the mean is too small") {
  constexpr int few = 4, drop = 13;  // float to half
  double cheap = 0, ours = 0;
  for (std::uint32_t rest = 0; rest < 1u << drop; ++rest) {
    const double steps = std::ldexp(rest, -drop);
    cheap +=
        bias(steps, 1u << few, [&](std::uint32_t lot) { return (rest >> (drop - few)) + lot >= 1u << few; });
    const float x = 1 + static_cast<float>(rest) * 0x1p-23f;
    ours += bias(steps, 1u << drop, [&](std::uint32_t lot) {
      return rounded_stochastically<half>(x, lot << (32 - drop)).bits() != 0x3c00;
    });
  }
  CHECK(ours == 0);
  CHECK(std::ldexp(cheap, -drop) == -(std::ldexp(0.5, -few) - std::ldexp(0.5, -drop)));  // -3.1 % of a step
}

/// The usual trick: random bits are added to those that E5M2 drops from the float, and cut off. It drops as many of
/// a subnormal, which has fewer: what is left is then cut off as well.
float8_e5m2 add_and_cut(float x, std::uint32_t random) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x) + (random >> 11);
  return rounded<float8_e5m2>(std::bit_cast<float>(bits & ~0x1f'ffffu), Rounding::toward_zero);
}

TEST_CASE("stochastic rounding: random bits added and cut off are right for normal numbers alone") {
  const auto errors = [](double x, double lo, double hi, auto&& round) {
    const Sample of{static_cast<float>(x), lo, hi, (x - lo) / (hi - lo)};
    const unsigned below = rounded<float8_e5m2>(of.x, Rounding::toward_zero).bits();
    return errors_of_mean(of, Rng(7),
                          [&](std::uint32_t random) { return round(of.x, random).bits() != below; });
  };
  const auto ours = [](float x, std::uint32_t random) {
    return rounded_stochastically<float8_e5m2>(x, random);
  };
  CHECK(std::fabs(errors(1.0625, 1, 1.25, add_and_cut)) < kMostErrors);
  CHECK(std::fabs(errors(1.0625, 1, 1.25, ours)) < kMostErrors);
  // 1.375 and 2.6875 steps of the subnormals, 2^-16: the first never leaves 1 step, the second rarely gets to 3.
  CHECK(errors(1.375 * 0x1p-16, 0x1p-16, 0x1p-15, add_and_cut) < -700);
  CHECK(errors(2.6875 * 0x1p-16, 0x1p-15, 0x1.8p-15, add_and_cut) < -400);
  CHECK(std::fabs(errors(1.375 * 0x1p-16, 0x1p-16, 0x1p-15, ours)) < kMostErrors);
  CHECK(std::fabs(errors(2.6875 * 0x1p-16, 0x1p-15, 0x1.8p-15, ours)) < kMostErrors);
}

}  // namespace
}  // namespace tinymp::test
