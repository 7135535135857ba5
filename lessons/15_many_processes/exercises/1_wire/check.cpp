// Exercise 15.1: sixteen bits on the wire. The oracle divides in double and rounds once, by its own rule.

#include <lessons/15_many_processes/exercises/1_wire/setting.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/dist/wire.h>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using dist::Divide;
using enum DType;

struct Trial {
  Divide divide;
  int ranks;
  DType gradient, wire;
  double micro_batches;
  std::vector<float> own;
};

double to_even(double v) {  // of a number without a sign, below 2^53
  const double below = std::floor(v), rest = v - below;
  const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) == 1);
  return up ? below + 1 : below;
}

/// Rounds to the nearest number with so many digits, ties to even, in a format whose smallest number is 2^lowest.
double rounded(double v, int digits, int lowest, double too_large) {
  if (!(std::fabs(v) > 0) || std::isinf(v)) return v;
  const int exponent = std::max(std::ilogb(v) + 1 - digits, lowest);
  const double on_grid = std::ldexp(to_even(std::fabs(std::ldexp(v, -exponent))), exponent);
  return std::copysign(on_grid >= too_large ? INFINITY : on_grid, v);
}
double rounded_to(DType format, double v) {
  return format == f16 ? rounded(v, 11, -24, 65536) : rounded(v, 8, -133, 0x1p128);
}
/// One unit in the last place of a number of the format.
double unit_of(DType format, double v) {
  const int digits = format == f16 ? 11 : 8, lowest = format == f16 ? -24 : -133;
  return std::ldexp(1.0, v == 0 || std::isinf(v) ? lowest : std::max(std::ilogb(v) + 1 - digits, lowest));
}

double factor_of(Divide divide, int ranks) {
  if (divide == Divide::after) return 1;
  if (divide == Divide::first) return ranks;
  double f = 1;
  while (std::fmod(ranks, f) == 0 && ranks / f > f) f *= 2;
  return f;
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string about(const Trial& t) {
  return std::string("\n  ") + (t.wire == f16 ? "FP16" : "BF16") +
         " on the wire, N = " + std::to_string(t.ranks) + ", Divide::" + dist::name_of(t.divide);
}
std::string lines(const Trial& t, const std::string& given, double expected, double yours) {
  return about(t) + given + "\n  expected = " + shown(expected) + "\n  yours    = " + shown(yours);
}

std::string why_factor(const Trial& t, double yours) {
  if (t.divide == Divide::split && yours == t.ranks && t.ranks > 2)
    return "Your split divides by all of N before the sum: that is Divide::first.";
  if (t.divide == Divide::split && yours == 1)
    return "Your split does not divide before the sum: that is Divide::after.";
  if (t.divide == Divide::split && yours == 2 * factor_of(t.divide, t.ranks))
    return "Your split doubles f once too often: it stops when N > f x f no longer holds, or f does not "
           "divide N.";
  if (t.divide == Divide::split && 2 * yours == factor_of(t.divide, t.ranks))
    return "Your split stops too early: f is doubled while f divides N and N > f x f.";
  if (t.divide == Divide::after)
    return "Your code divides before the sum, though it is to be divided after it.";
  return "Your predivide_factor is another number.";
}

std::string why_value(const Trial& t, double own, double yours) {
  const double factor = factor_of(t.divide, t.ranks), on_wire = rounded_to(t.wire, own);
  if (yours == rounded_to(t.wire, on_wire / factor) ||
      yours == rounded_to(t.wire, on_wire * rounded_to(t.wire, 1 / factor)))
    return "Your put_on_wire rounds before it divides: what is too large for the wire is lost though a part "
           "of it is not.";
  if (yours == on_wire) return "Your put_on_wire does not divide.";
  if (yours == rounded_to(t.wire, own * factor)) return "Your put_on_wire multiplies by the factor.";
  return "Your put_on_wire does not write gradient / factor, rounded once.";
}

std::string why_divisor(const Trial& t, double yours) {
  const double factor = factor_of(t.divide, t.ranks);
  if (yours == t.micro_batches)
    return "Your divisor_behind divides again by what the sum was divided by before it travelled.";
  if (yours == t.micro_batches * factor)
    return "Your divisor_behind is too large by the factor, twice: the sum is too small already.";
  return "Your divisor_behind does not make the sum a mean.";
}

void run(Judge& judge, const Trial& t) {
  Message reply = judge.ask(Message()
                                .put(Setting{.divide = static_cast<std::int32_t>(t.divide),
                                             .gradient = static_cast<std::int32_t>(t.gradient),
                                             .wire = static_cast<std::int32_t>(t.wire),
                                             .ranks = t.ranks,
                                             .micro_batches = t.micro_batches})
                                .put_all(t.own),
                            [&] { return about(t); });
  const auto yours = reply.take<Answer>();
  const std::vector<float> travels = reply.take_all<float>(t.own.size());
  const double factor = factor_of(t.divide, t.ranks);
  for (std::size_t i = 0; i < t.own.size(); ++i) {
    const auto own = static_cast<double>(t.own[i]), found = static_cast<double>(travels[i]);
    if (yours.factor != factor) break;
    const double right = rounded_to(t.wire, own / factor);
    // A product with 1 / factor may end on the other side of a tie.
    const bool exact = std::ldexp(1.0, std::ilogb(factor)) == factor;
    judge.expect(found == right || (!exact && std::fabs(found - right) <= unit_of(t.wire, right)), [&] {
      return why_value(t, own, found) + lines(t, ", a gradient of " + shown(own), right, found);
    });
  }
  judge.expect(yours.factor == factor, [&] {
    return why_factor(t, yours.factor) + lines(t, ": predivide_factor", factor, yours.factor);
  });
  const double divisor = t.micro_batches / factor;
  judge.expect(std::fabs(yours.divisor - divisor) <= 1e-12 * divisor, [&] {
    return why_divisor(t, yours.divisor) +
           lines(t, ", " + shown(t.micro_batches) + " micro-batches: divisor_behind", divisor, yours.divisor);
  });
}

Trial drawn(Judge& judge) {
  constexpr Divide all[] = {Divide::after, Divide::first, Divide::split};
  Trial t{.divide = all[judge.draw_below(3)],
          .ranks = static_cast<int>(1 + judge.draw_below(64)),
          .gradient = judge.draw_below(2) == 0 ? f32 : f16,
          .wire = judge.draw_below(2) == 0 ? f16 : bf16,
          .micro_batches = 0,
          .own = {}};
  t.micro_batches = static_cast<double>(t.ranks * (1 + judge.draw_below(8)));
  for (int i = 0; i < 8; ++i) {
    const double v = std::ldexp(static_cast<double>(judge.draw_below(2048)) / 2048,
                                static_cast<int>(judge.draw_below(44)) - 26);
    t.own.push_back(static_cast<float>(rounded_to(f16, judge.draw_below(2) == 0 ? v : -v)));
    if (std::isinf(t.own.back())) t.own.back() = 65504;
  }
  return t;
}

}  // namespace

void check(Judge& judge) {
  run(judge, {Divide::after, 4, f32, f16, 4, {1, -0.375f, 0x1p-24f, 70000}});
  run(judge, {Divide::first, 8, f32, f16, 8, {1, 100000, 0x1p-21f, 0x1p-22f}});
  run(judge, {Divide::first, 4, f16, f16, 8, {1, 60000, 0x1p-24f}});
  for (const int ranks : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 32, 36, 64})
    run(judge, {Divide::split, ranks, f32, f16, static_cast<double>(ranks), {1, 100000, 0x1p-23f}});
  run(judge, {Divide::split, 8, f32, f16, 32, {3}});
  run(judge, {Divide::first, 8, f32, bf16, 8, {1, 100000, 0x1p-126f}});
  run(judge, {Divide::first, 3, f32, f16, 3, {1, 2, 100000}});
  for (int i = 0; i < 400; ++i) run(judge, drawn(judge));
}

}  // namespace tinymp::exercise
