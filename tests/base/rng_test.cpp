#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <vector>

using tinymp::Rng;

namespace {

std::vector<int> shuffled(int n, Rng rng) {
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  rng.shuffle(std::span<int>(values));
  return values;
}

/// Pearson's chi-squared against "all counts are equally likely".
double chi_squared(const std::vector<int>& counts) {
  double total = 0;
  for (int c : counts) total += c;
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (int c : counts) sum += (c - expected) * (c - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("Rng gives the published SplitMix64 stream") {
  // Seed 1234567: the vector of Rosetta Code, task "Pseudo-random numbers/Splitmix64".
  Rng published(1234567);
  const std::array<std::uint64_t, 5> rosetta = {6457827717110365317u, 3203168211198807973u,
                                                9817491932198370423u, 4593380528125082431u,
                                                16408922859458223821u};
  for (std::uint64_t value : rosetta) CHECK(published.next_u64() == value);

  // Seed 0: what Vigna's splitmix64.c prints.
  Rng zero(0);
  const std::array<std::uint64_t, 4> vigna = {0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f,
                                              0xf88bb8a8724c81ec};
  for (std::uint64_t value : vigna) CHECK(zero.next_u64() == value);
}

TEST_CASE("Rng resumes from seed and counter") {
  Rng rng(7);
  for (int i = 0; i < 10; ++i) rng.next_u64();
  CHECK(rng.counter() == 10);
  Rng resumed(rng.seed(), rng.counter());
  for (int i = 0; i < 10; ++i) CHECK(resumed.next_u64() == rng.next_u64());
}

TEST_CASE("Rng::uniform takes the top 24 bits") {
  Rng bits(42), floats(42);
  for (int i = 0; i < 1000; ++i) {
    const double u = static_cast<double>(bits.next_u64() >> 40) / 16777216.0;
    CHECK(floats.uniform(0, 1) == static_cast<float>(u));
  }
  Rng rng(3);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const float value = rng.uniform(-2, 3);
    REQUIRE(value >= -2);
    REQUIRE(value <= 3);
    sum += value;
  }
  CHECK(sum / 100000 == Approx(0.5).margin(0.02));  // 4 standard errors: 4 * 5 / sqrt(12 * 100000)
}

TEST_CASE("Rng::below is unbiased") {
  SECTION("every value as often as the others") {
    Rng rng(5);
    std::vector<int> counts(10);
    for (int i = 0; i < 100000; ++i) ++counts[static_cast<std::size_t>(rng.below(10))];
    CHECK(chi_squared(counts) < 33.7);  // 9 degrees of freedom, p = 1e-4
  }
  SECTION(
      "a range that does not divide 2^64: taking a bare remainder would favour the first half two to one") {
    Rng rng(5);
    const std::uint64_t n = 3ull << 62;  // 3/4 of 2^64: remainders below 2^62 would come up twice as often
    std::vector<int> thirds(3);
    for (int i = 0; i < 30000; ++i) ++thirds[static_cast<std::size_t>(rng.below(n) >> 62)];
    CHECK(chi_squared(thirds) < 18.5);  // 2 degrees of freedom, p = 1e-4
  }
  SECTION("edges") {
    Rng rng(1);
    CHECK(rng.below(1) == 0);
    CHECK_THROWS_AS(rng.below(0), tinymp::Error);
  }
}

TEST_CASE("Rng::shuffle is a permutation, each equally likely, the same everywhere") {
  const std::vector<int> order = shuffled(1000, Rng(9));
  CHECK(std::set<int>(order.begin(), order.end()).size() == 1000);
  CHECK(order == shuffled(1000, Rng(9)));
  CHECK(order != shuffled(1000, Rng(10)));

  std::vector<int> counts(24);
  for (std::uint64_t seed = 0; seed < 24000; ++seed) {
    const std::vector<int> p = shuffled(4, Rng(seed));
    int index = 0;  // rank of the permutation in the factorial number system
    for (int i = 0; i < 4; ++i) {
      int smaller = 0;
      for (int j = i + 1; j < 4; ++j)
        smaller += p[static_cast<std::size_t>(j)] < p[static_cast<std::size_t>(i)];
      index = index * (4 - i) + smaller;
    }
    ++counts[static_cast<std::size_t>(index)];
  }
  CHECK(chi_squared(counts) < 57.9);  // 23 degrees of freedom, p = 1e-4

  // Frozen: a change here changes every recorded run.
  CHECK(shuffled(10, Rng(1)) == std::vector<int>{4, 2, 8, 1, 9, 3, 0, 6, 7, 5});
}

TEST_CASE("Rng::split makes independent streams that do not depend on what was drawn") {
  Rng root(11);
  Rng before = root.split(3);
  root.next_u64();
  Rng after = root.split(3);
  CHECK(before.next_u64() == after.next_u64());

  std::set<std::uint64_t> first_numbers;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (std::uint64_t stream = 0; stream < 100; ++stream)
      first_numbers.insert(Rng(seed).split(stream).next_u64());
  CHECK(first_numbers.size() == 10000);

  // Bits of two streams agree as often as a coin: 64 * 1000 comparisons, 5 standard deviations.
  Rng a = Rng(0).split(0), b = Rng(0).split(1);
  int agree = 0;
  for (int i = 0; i < 1000; ++i) {
    std::uint64_t same = ~(a.next_u64() ^ b.next_u64());
    for (; same != 0; same &= same - 1) ++agree;
  }
  CHECK(agree == Approx(32000).margin(633));

  // Frozen: a change here changes every recorded run.
  CHECK(Rng(1).split(0).seed() == 0x392cce7aba10ca24);
  CHECK(Rng(1).split(1).seed() == 0x94d58cfc0852acf2);
}
