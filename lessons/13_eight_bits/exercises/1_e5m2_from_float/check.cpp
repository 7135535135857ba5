// Exercise 13.1: E5M2 from float. All floats whose last 12 bits are 0, 1, all ones, or drawn: those beside each middle of
// two numbers are among them. The oracle does not shift: it knows the numbers of E5M2 as numbers, and the nearest is the
// one whose midpoints to its two neighbours enclose x.

#include <lessons/13_eight_bits/exercises/1_e5m2_from_float/setting.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace tinymp::exercise {
namespace {

constexpr std::uint32_t largest = 0x7b, infinite = 0x7c, nan_code = 0x7e;

struct Asked {
  float x;
  bool saturates = false;

  std::uint32_t bits() const { return std::bit_cast<std::uint32_t>(x); }
  double size() const { return std::bit_cast<float>(bits() & 0x7fff'ffff); }
  std::uint8_t with_sign(std::uint32_t magnitude) const {
    return static_cast<std::uint8_t>((bits() >> 31 << 7) | magnitude);
  }
};

/// The number that these 7 bits mean; for infinity the number that would come next, 65536.
double number(std::uint32_t code) {
  const std::uint32_t exponent = code / 4, fraction = code % 4;
  return exponent == 0 ? std::ldexp(fraction, -16)
                       : std::ldexp(4 + fraction, static_cast<int>(exponent) - 15 - 2);
}

/// middles()[i] lies between the numbers i and i + 1.
const std::array<double, infinite>& middles() {
  static const std::array<double, infinite> all = [] {
    std::array<double, infinite> between{};
    for (std::uint32_t i = 0; i < infinite; ++i) between[i] = (number(i) + number(i + 1)) / 2;
    return between;
  }();
  return all;
}
bool is_middle(double x) { return std::ranges::binary_search(middles(), x); }

/// The magnitude of the nearest number; `infinite` where that is 65536 or more. x is 0 or above.
std::uint32_t nearest_to(double x) {
  const auto code = static_cast<std::uint32_t>(std::ranges::lower_bound(middles(), x) - middles().begin());
  return code % 2 == 1 && is_middle(x) ? code + 1 : code;
}

std::uint8_t finished(const Asked& of, std::uint32_t magnitude) {
  if (of.x != of.x) return nan_code;
  return of.with_sign(magnitude == infinite && of.saturates ? largest : magnitude);
}
std::uint8_t right(const Asked& of) { return finished(of, of.x == of.x ? nearest_to(of.size()) : 0); }

// ---- What people write, and how it gives itself away.

std::uint8_t cut_off(const Asked& of) {
  const std::uint32_t code = nearest_to(of.size());
  return finished(of, code - (code > 0 && number(code) > of.size() ? 1 : 0));
}
std::uint8_t ties_away(const Asked& of) {
  const std::uint32_t code = nearest_to(of.size());
  return finished(of, code + (code < infinite && is_middle(of.size()) && number(code) < of.size() ? 1 : 0));
}
std::uint8_t flushed(const Asked& of) { return of.size() < 0x1p-14 ? of.with_sign(0) : right(of); }
std::uint8_t cut_off_below(const Asked& of) { return of.size() < 0x1p-14 ? cut_off(of) : right(of); }
double to_even(double n) {
  const double below = std::floor(n), over = n - below;
  const bool odd = std::fmod(below, 2) != 0;
  return below + (over > 0.5 || (over == 0.5 && odd) ? 1 : 0);
}
/// Rounded to a half, and then to E5M2.
std::uint8_t through_half(const Asked& of) {
  if (!(of.size() < 65536)) return right(of);
  const double size = of.size();
  const int exponent = size == 0 ? -14 : std::max(std::ilogb(size), -14);
  return finished(of, nearest_to(std::ldexp(to_even(std::ldexp(size, 10 - exponent)), exponent - 10)));
}
std::uint8_t always_saturates(const Asked& of) { return right({of.x, true}); }
std::uint8_t never_saturates(const Asked& of) { return right({of.x, false}); }
std::uint8_t infinity_stays(const Asked& of) { return std::isinf(of.x) ? of.with_sign(infinite) : right(of); }
/// Whatever lies above the largest number overflows, before anything is rounded.
std::uint8_t early_overflow(const Asked& of) {
  return of.size() > number(largest) ? finished(of, infinite) : right(of);
}
std::uint8_t late_overflow(const Asked& of) {
  return of.size() < 65536 && (right({of.x, false}) & 0x7fu) == infinite ? of.with_sign(largest) : right(of);
}
std::uint8_t nan_is_infinity(const Asked& of) { return of.x != of.x ? of.with_sign(infinite) : right(of); }
std::uint8_t zero_unless_finite(const Asked& of) { return std::isfinite(of.x) ? right(of) : std::uint8_t{0}; }
std::uint8_t nan_is_largest(const Asked& of) { return of.x != of.x ? of.with_sign(largest) : right(of); }
std::uint8_t nan_has_a_sign(const Asked& of) { return of.x != of.x ? of.with_sign(nan_code) : right(of); }
std::uint8_t nan_is_cut_off(const Asked& of) {
  return of.x != of.x ? of.with_sign(0x7c | (of.bits() >> 21 & 3)) : right(of);
}
/// 1.99 rounds to 2: the carry out of the fraction has to reach the exponent.
std::uint8_t carry_lost(const Asked& of) {
  const std::uint32_t code = nearest_to(of.size());
  return finished(of, code - (code % 4 == 0 && code > 0 && number(code) > of.size() ? 4 : 0));
}
std::uint8_t unsigned_zero(const Asked& of) { return of.x == 0 ? std::uint8_t{0} : right(of); }

struct Misconception {
  const char* says;
  std::uint8_t (*gives)(const Asked&);
};
constexpr Misconception misconceptions[] = {
    {"Your code gives the sign only; the exponent and the fraction are yours to write.",
     [](const Asked& of) { return of.with_sign(0); }},
    {"Your code cuts off the bits that do not fit. That rounds toward zero, not to the nearest.", cut_off},
    {"Your code always rounds up what lies halfway. Of two equally near numbers take the one whose last bit "
     "is 0.",
     ties_away},
    {"Your code rounds twice: to a half, and then to E5M2. The half is the middle of two numbers here, and x "
     "is not: it lies on one side of it.",
     through_half},
    {"Your code makes 0 of everything below 2^-14. There the exponent field stays 0 and the leading 1 is "
     "written out: a subnormal.",
     flushed},
    {"Your code cuts off the bits that do not fit where a number lies below 2^-14. There they are rounded as "
     "well, to the nearest.",
     cut_off_below},
    {"Your code overflows too early: what lies above 57344 is rounded first, and up to 61440 the nearest "
     "number is 57344.",
     early_overflow},
    {"Your code overflows too late: from 61440 on the next number, 65536, is as near as 57344.",
     late_overflow},
    {"Your code saturates under Overflow::infinity, too. There a loss scaler looks for the infinity.",
     always_saturates},
    {"Your code never saturates: under Overflow::saturate what is too large becomes 57344.", never_saturates},
    {"Your code leaves infinity as it is. Under Overflow::saturate it becomes 57344, too.", infinity_stays},
    {"Your code makes 0 of infinity and NaN, as a function does behind an assert that is switched off. A "
     "zero "
     "hides them: no loss scaler skips the step.",
     zero_unless_finite},
    {"Your code makes infinity of NaN. Both have an exponent of ones; the fraction tells them apart.",
     nan_is_infinity},
    {"Your code makes a number of NaN: 57344. NaN is 0x7e in both modes, or nobody sees it again.",
     nan_is_largest},
    {"Your code keeps the sign of NaN. This library has one NaN, 0x7e.", nan_has_a_sign},
    {"Your code cuts bits off a NaN. What is left may be infinity; this library has one NaN, 0x7e.",
     nan_is_cut_off},
    {"Your code loses the sign of 0.", unsigned_zero},
    {"Your code loses the carry: where the fraction rounds up past its ones, the exponent grows by one.",
     carry_lost}};

/// Where these part, the smallest step into each first.
constexpr float telling[] = {0.0f,          1.0f,        -2.0f,       0x1.4p0f,   0x1.28p0f,  0x1.2p0f,
                             0x1.6p0f,      0x1.2002p0f, 0x1.5ffep0f, 0x1.fp0f,   0x1p-14f,   0x1p-16f,
                             0x1.8p-16f,    0x1p-17f,    0x1.8p-17f,  0x1.6p-16f, 0x1.ep-15f, 0x1.cp-15f,
                             0x1.0002p-17f, 57344.0f,    57345.0f,    61439.996f, 1e30f,      65536.0f,
                             61440.0f,      1e-30f,      -0.0f,       -1e-30f,    -57345.0f,  -1e30f};
constexpr std::uint32_t special[] = {0x7f80'0000, 0xff80'0000, 0x7fc0'0000, 0xffc0'0000,
                                     0x7f80'0001, 0xff92'3456, 0x7fff'ffff};

std::vector<Asked> first_questions() {
  std::vector<Asked> all;
  for (const float x : telling)
    for (const bool saturates : {false, true}) all.push_back({x, saturates});
  for (const std::uint32_t bits : special)
    for (const bool saturates : {false, true}) all.push_back({std::bit_cast<float>(bits), saturates});
  return all;
}

std::string fields(std::uint8_t code) {
  std::string text;
  for (int i = 7; i >= 0; --i)
    text += std::string(i == 6 || i == 1 ? " " : "") + ((code >> i & 1) != 0 ? '1' : '0');
  return text;
}

std::string report(const Asked& of, std::uint8_t yours) {
  const bool is_other = is_middle(of.size()) && std::abs((yours & 0x7f) - (right(of) & 0x7f)) == 1;
  std::string why =
      is_other
          ? "Your code chooses the wrong one of two numbers that are equally near: right is the one whose "
            "last bit is 0."
          : "Your code gives a number that is not the nearest one.";
  if (of.x != of.x && (yours & 0x7fu) > infinite)
    why =
        "Your code gives another NaN than the one of this library: whatever its sign and its bits, NaN is "
        "0x7e.";
  for (const Misconception& one : misconceptions) {
    bool fits = one.gives(of) == yours;
    for (const Asked& earlier : first_questions()) {
      if (earlier.bits() == of.bits() && earlier.saturates == of.saturates) break;
      fits = fits && one.gives(earlier) == right(earlier);  // everywhere up to here
    }
    if (!fits) continue;
    why = one.says;
    break;
  }
  return why + "\n  x        = " + decimal(of.x) +
         (of.saturates ? ", Overflow::saturate" : ", Overflow::infinity") +
         "\n  expected = " + fields(right(of)) + "\n  yours    = " + fields(yours);
}

/// All floats with these last 12 bits, in blocks. While one block is looked at the next is made. The bits wrap, so an odd
/// number of 2^12 visits each of the floats once; it is drawn, lest a list of answers pass.
void sweep(Judge& judge, std::uint32_t low, bool saturates) {
  constexpr std::uint32_t count = 1 << 18, blocks = 4;
  const std::uint32_t step = (static_cast<std::uint32_t>(judge.draw_below(1 << 20)) | 1) << 12;
  const auto ask = [&](std::uint32_t n) {
    judge.send(Message().put(Floats{n * count * step + low, step, count, saturates ? 1u : 0u}));
  };
  ask(0);
  for (std::uint32_t n = 0; n < blocks; ++n) {
    Message reply = judge.receive();
    if (n + 1 < blocks) ask(n + 1);
    const std::span<const std::uint8_t> yours = reply.all<std::uint8_t>(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Asked of{std::bit_cast<float>((n * count + i) * step + low), saturates};
      judge.expect(yours[i] == right(of), [&] { return report(of, yours[i]); });
    }
  }
}

}  // namespace

void check(Judge& judge) {
  for (const Asked& of : first_questions()) {
    Message reply = judge.ask(Message().put(Floats{of.bits(), 0, 1, of.saturates ? 1u : 0u}));
    const std::uint8_t yours = reply.all<std::uint8_t>(1)[0];
    judge.expect(yours == right(of), [&] { return report(of, yours); });
  }
  for (const std::uint32_t low : {0u, 1u, 0xfffu, static_cast<std::uint32_t>(judge.draw_below(0x1000))})
    for (const bool saturates : {false, true}) sweep(judge, low, saturates);
}

}  // namespace tinymp::exercise
