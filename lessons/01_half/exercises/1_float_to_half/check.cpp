// Exercise 1.1: float to half, on all 2^32 floats. The oracle does not shift: it knows the halves as numbers,
// and the nearest is the one whose midpoints to its two neighbours enclose x. Midpoints of halves are floats.

#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace tinymp::exercise {
namespace {

constexpr std::uint16_t nan_bits = 0x7e00, infinity_bits = 0x7c00;

/// The number that these 15 bits mean; for infinity the number that would come next, 65536.
constexpr double number(std::uint32_t half) {
  const std::uint32_t exponent = half >> 10, fraction = half & 1023;
  const double unit = std::bit_cast<double>(std::uint64_t{1023 - 25 + (exponent == 0 ? 1 : exponent)} << 52);
  return (exponent == 0 ? fraction : 1024 + fraction) * unit;
}

/// The first float, by its bits, that is nearer to `half` than to the one before it, or as near and half is
/// even.
std::uint32_t first_of(std::uint32_t half) {
  if (half == 0) return 0;
  const auto midpoint = static_cast<float>((number(half - 1) + number(half)) / 2);
  return std::bit_cast<std::uint32_t>(midpoint) + (half % 2 == 0 ? 0 : 1);
}

std::uint16_t nearest(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), magnitude = bits & 0x7fff'ffff;
  if (x != x) return nan_bits;
  std::uint32_t low = 0, high = infinity_bits;  // first_of(low) <= magnitude
  while (low < high) {
    const std::uint32_t middle = (low + high + 1) / 2;
    (first_of(middle) <= magnitude ? low : high) = first_of(middle) <= magnitude ? middle : middle - 1;
  }
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | low);
}

// ---- What people write, and how it gives itself away.

std::uint16_t with_sign_of(float x, std::uint32_t half) {
  return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(x) >> 16 & 0x8000) | half);
}
double size_of(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7fff'ffff); }

std::uint16_t cut_off(float x) {
  const std::uint32_t half = nearest(x) & 0x7fff;
  return with_sign_of(x, half - (half > 0 && number(half) > size_of(x) ? 1 : 0));
}
std::uint16_t ties_away(float x) {
  const std::uint32_t half = nearest(x) & 0x7fff;
  const bool tie = half < infinity_bits && number(half) < size_of(x) &&
                   size_of(x) - number(half) == number(half + 1) - size_of(x);
  return with_sign_of(x, half + (tie ? 1 : 0));
}
std::uint16_t cut_off_below(float x) { return size_of(x) < 0x1p-14 ? cut_off(x) : nearest(x); }
std::uint16_t flushed(float x) { return size_of(x) < 0x1p-14 ? with_sign_of(x, 0) : nearest(x); }
std::uint16_t saturated(float x) {
  const std::uint16_t half = nearest(x);
  return (half & 0x7fff) == infinity_bits ? static_cast<std::uint16_t>(half - 1) : half;
}
std::uint16_t nan_is_infinity(float x) { return x != x ? with_sign_of(x, infinity_bits) : nearest(x); }
/// 1.999... rounds to 2: the carry out of the fraction has to reach the exponent.
std::uint16_t carry_lost(float x) {
  const std::uint32_t half = nearest(x) & 0x7fff;
  const bool carried = half % 1024 == 0 && half > 0 && number(half) > size_of(x);
  return with_sign_of(x, half - (carried ? 1024 : 0));
}
std::uint16_t unsigned_zero(float x) { return x == 0 ? std::uint16_t{0} : nearest(x); }

struct Misconception {
  const char* says;
  std::uint16_t (*gives)(float);
};
constexpr std::array misconceptions{
    Misconception{"Your code gives the sign only; the exponent and the fraction are yours to write.",
                  [](float x) { return with_sign_of(x, 0); }},
    Misconception{"Your code cuts off the bits that do not fit. That rounds toward zero, not to the nearest.",
                  cut_off},
    Misconception{"Your code always rounds up what lies halfway. Of two equally near halves take the one "
                  "whose last bit is 0: otherwise the errors of a long sum all point one way.",
                  ties_away},
    Misconception{"Your code makes 0 of everything below 2^-14. There the exponent field stays 0 and the "
                  "leading 1 is written out: a subnormal.",
                  flushed},
    Misconception{"Your code cuts off the bits that do not fit where a number lies below 2^-14. There they "
                  "are rounded as well, to the nearest.",
                  cut_off_below},
    Misconception{"Your code ends at 65504 whatever is too large. From 65520 on, half a step further, a half "
                  "is infinity.",
                  saturated},
    Misconception{
        "Your code makes infinity of NaN. Both have an exponent of ones; the fraction tells them apart.",
        nan_is_infinity},
    Misconception{"Your code loses the sign of 0.", unsigned_zero},
    Misconception{
        "Your code loses the carry: where the fraction rounds up past its ones, the exponent grows by one.",
        carry_lost},
};

/// Where these part, the smallest step into each first.
constexpr std::array telling = {0.0f,       1.0f,         -2.0f,        0x1.ffcp0f, 0x1.003p0f, 0x1.002p0f,
                                0x1.006p0f, 0x1.ffep0f,   0x1p-14f,     0x1p-24f,   0x1.8p-24f, 0x1p-25f,
                                0x1.8p-25f, 0x1.ff8p-15f, 0x1.ffep-15f, 65504.0f,   65519.996f, 65520.0f,
                                65536.0f,   1e30f,        1e-30f,       -0.0f,      -1e-30f,    -1e30f};

std::string report(float x, std::uint16_t yours, std::uint16_t right) {
  std::string why = "Your code gives a half that is not the nearest one.";
  if (x != x && (yours & 0x7fff) > infinity_bits)
    why =
        "Your code gives another NaN than the one of this library: whatever its sign and its bits, NaN is "
        "0x7e00.";
  if (size_of(x) == 0 && (yours & 0x7fff) != 0)
    why = "Your code takes 0 for a normal number: its exponent field is 0, and a half's is, too.";
  for (const Misconception& one : misconceptions) {
    bool fits = true;  // everywhere up to here
    for (const float y : telling) {
      if (std::bit_cast<std::uint32_t>(y) == std::bit_cast<std::uint32_t>(x)) break;
      fits = fits && one.gives(y) == nearest(y);
    }
    if (fits && one.gives(x) == yours) {
      why = one.says;
      break;
    }
  }
  return why + "\n  x        = " + decimal(x) + "\n  expected = " + half_fields(right) +
         "\n  yours    = " + half_fields(yours);
}

void expect_nearest(Judge& judge, std::uint32_t bits) {
  const auto x = std::bit_cast<float>(bits);
  Message reply = judge.ask(Message().put(bits).put(std::uint32_t{1}));
  const std::uint16_t yours = reply.all<std::uint16_t>(1)[0], right = nearest(x);
  judge.expect(yours == right, [&] { return report(x, yours, right); });
}

/// Those of the floats from `first` on, all of one sign. Floats between two midpoints share a half.
void expect_all_nearest(Judge& judge, std::uint32_t first, std::span<const std::uint16_t> yours) {
  const std::uint32_t sign = first & 0x8000'0000, infinite = 0x7f80'0000;
  const auto end = static_cast<std::uint32_t>((first & 0x7fff'ffff) + yours.size());
  for (std::uint32_t at = first & 0x7fff'ffff; at < end;) {
    const std::uint16_t right = nearest(std::bit_cast<float>(at | sign));
    const std::uint32_t magnitude = right & 0x7fff;
    std::uint32_t next = magnitude < infinity_bits ? first_of(magnitude + 1)
                         : at <= infinite          ? infinite + 1
                                                   : end;
    next = std::min(next, end);
    for (; at < next; ++at) {
      const std::uint16_t one = yours[at - (first & 0x7fff'ffff)];
      if (one != right) judge.fail(report(std::bit_cast<float>(at | sign), one, right));
    }
  }
  judge.count(static_cast<std::int64_t>(yours.size()));
}

/// All of them, the positive one and its negative twin in turn. While one block is looked at the next is
/// made.
void sweep(Judge& judge) {
  constexpr std::uint32_t block = 1 << 18, blocks = 1 << 14;  // so long that it stays in a cache
  const auto first_of_block = [](std::uint32_t n) { return n / 2 * block | (n % 2 << 31); };
  const auto ask = [&](std::uint32_t n) { judge.send(Message().put(first_of_block(n)).put(block)); };
  ask(0);
  for (std::uint32_t n = 0; n < blocks; ++n) {
    Message reply = judge.receive();
    if (n + 1 < blocks) ask(n + 1);
    expect_all_nearest(judge, first_of_block(n), reply.all<std::uint16_t>(block));
  }
}

}  // namespace

void check(Judge& judge) {
  for (const float x : telling) expect_nearest(judge, std::bit_cast<std::uint32_t>(x));
  for (const std::uint32_t bits : {0x7f80'0000u, 0xff80'0000u, 0x7fc0'0000u, 0x7f80'0001u, 0xffc1'2345u})
    expect_nearest(judge, bits);
  sweep(judge);
}

}  // namespace tinymp::exercise
