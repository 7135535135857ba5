// Exercise 1.3: rounding modes. The oracle does not look at bits: it divides signed integers, and compares
// distances.

#include <lessons/01_half/exercises/3_rounding_modes/question.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/small_float_codec.h>  // for Rounding
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tinymp::exercise {
namespace {

struct Case {
  Rounding mode;
  int drop;
  std::uint32_t magnitude;
  bool negative;

  std::int64_t step() const { return std::int64_t{1} << drop; }
  std::int64_t number() const { return negative ? -std::int64_t{magnitude} : magnitude; }  // in 1 / step
};

std::uint32_t size(std::int64_t x) { return static_cast<std::uint32_t>(x < 0 ? -x : x); }

std::int64_t below(const Case& of) {
  const std::int64_t quotient = of.number() / of.step();
  return quotient - (quotient * of.step() > of.number() ? 1 : 0);
}
std::int64_t above(const Case& of) { return below(of) + (below(of) * of.step() < of.number() ? 1 : 0); }
std::int64_t inner(const Case& of) { return of.negative ? above(of) : below(of); }
std::int64_t outer(const Case& of) { return of.negative ? below(of) : above(of); }
/// How much nearer the upper neighbour is; 0 in the middle.
std::int64_t balance(const Case& of) { return 2 * of.number() - (below(of) + above(of)) * of.step(); }

std::uint32_t right(const Case& of) {
  switch (of.mode) {
    case Rounding::up:
      return size(above(of));
    case Rounding::down:
      return size(below(of));
    case Rounding::toward_zero:
      return size(inner(of));
    default:
      if (balance(of) != 0) return size(balance(of) > 0 ? above(of) : below(of));
      return size(below(of) % 2 == 0 ? below(of) : above(of));
  }
}

// ---- What people write, and how it gives itself away.

bool directed(const Case& of) { return of.mode == Rounding::up || of.mode == Rounding::down; }

struct Misconception {
  const char* says;
  std::uint32_t (*gives)(const Case&);
};
constexpr std::array misconceptions{
    Misconception{
        "Your code cuts the last bits off, whatever they are and whatever the mode: that is toward_zero.",
        [](const Case& c) { return size(inner(c)); }},
    Misconception{"Your code always takes the middle away from zero. Nearest even takes the neighbour whose "
                  "last bit is 0: otherwise the errors of a long sum all point one way.",
                  [](const Case& c) {
                    const bool tie = c.mode == Rounding::nearest_even && balance(c) == 0;
                    return tie ? size(outer(c)) : right(c);
                  }},
    Misconception{"Your code always takes the middle toward zero. Nearest even takes the neighbour whose "
                  "last bit is 0, be it above or below.",
                  [](const Case& c) {
                    const bool tie = c.mode == Rounding::nearest_even && balance(c) == 0;
                    return tie ? size(inner(c)) : right(c);
                  }},
    Misconception{
        "Your code takes the middle to the odd neighbour: the one whose last bit is 0 was asked for.",
        [](const Case& c) {
          if (c.mode != Rounding::nearest_even || balance(c) != 0) return right(c);
          return size(below(c) % 2 == 0 ? above(c) : below(c));
        }},
    Misconception{"Your code takes up and down away from zero: but up is toward +infinity, and there the "
                  "magnitude of a negative number gets smaller. The sign decides.",
                  [](const Case& c) { return directed(c) ? size(outer(c)) : right(c); }},
    Misconception{"Your code has up and down in each other's place. In sign and magnitude the magnitude of a "
                  "positive number grows toward +infinity, that of a negative one toward -infinity.",
                  [](const Case& c) {
                    return directed(c) ? size(c.mode == Rounding::up ? below(c) : above(c)) : right(c);
                  }},
    Misconception{
        "Your code asks for the nearer in up and down: there any lost bit that is 1 moves the number.",
        [](const Case& c) {
          if (!directed(c)) return right(c);
          return 2 * (c.magnitude % c.step()) < c.step() ? size(inner(c)) : right(c);
        }},
    Misconception{"Your code makes a magnitude larger; toward_zero never does.",
                  [](const Case& c) { return c.mode == Rounding::toward_zero ? size(outer(c)) : right(c); }},
};

const char* name(Rounding mode) {
  constexpr std::array names{"nearest_even", "toward_zero", "up", "down", "stochastic"};
  return names[static_cast<std::size_t>(mode)];
}

std::string binary(std::uint32_t x) {
  std::string text;
  for (; x > 1; x /= 2) text.insert(0, 1, x % 2 == 1 ? '1' : '0');
  return (x == 1 ? "1" : "0") + text;
}

/// -10.01b: two bits to be lost.
std::string show(const Case& of) {
  std::string rest = binary(of.magnitude & static_cast<std::uint32_t>(of.step() - 1));
  rest.insert(0, static_cast<std::size_t>(of.drop) - rest.size(), '0');
  return (of.negative ? "-" : "") + binary(of.magnitude >> of.drop) + "." + rest + "b";
}

std::string show(std::uint32_t kept) { return binary(kept) + "b (" + std::to_string(kept) + ")"; }

std::vector<Case> cases(Judge& judge) {
  std::vector<Case> all;
  const auto add = [&](Rounding mode, int drop, std::uint32_t magnitude) {
    for (const bool negative : {false, true}) all.push_back({mode, drop, magnitude, negative});
  };
  for (const Rounding mode : {Rounding::nearest_even, Rounding::toward_zero, Rounding::up, Rounding::down}) {
    for (int drop = 1; drop <= 8; ++drop)
      for (std::uint32_t magnitude = 0; magnitude < 8u << drop; ++magnitude) add(mode, drop, magnitude);
    for (int drop = 9; drop <= 31; ++drop) {
      const std::uint32_t step = 1u << drop;
      for (const std::uint32_t kept : {0u, 1u, 2u, 3u, 6u, 7u, ~0u >> drop}) {
        if (kept > ~0u >> drop) continue;
        for (const std::uint32_t rest : {0u, 1u, 2u, step / 2 - 1, step / 2, step / 2 + 1, step - 1})
          add(mode, drop, kept * step + rest);
      }
    }
  }
  for (int i = 0; i < 10'000; ++i) {
    const auto mode = static_cast<Rounding>(judge.draw_below(4));
    const auto drop = static_cast<int>(1 + judge.draw_below(31));
    add(mode, drop, static_cast<std::uint32_t>(judge.draw()));
  }
  return all;
}

Question question(const Case& of, std::uint32_t random = 0) {
  return {of.magnitude, random, of.drop, of.negative ? 1 : 0, static_cast<std::int32_t>(of.mode)};
}

/// What came out for each of the cases.
using Answers = std::vector<std::uint32_t>;

/// What has gone wrong in `one`: the misconception that gives the same there, and most often in this mode.
std::string why(const std::vector<Case>& all, const Answers& yours, std::size_t which) {
  const Case& one = all[which];
  if (one.magnitude % one.step() == 0)
    return "Your code moves a number that needs no rounding. When no lost bit is 1 it stays, in every mode.";
  std::string best = "Your code does not give the number that this mode asks for.";
  std::int64_t most = 0;
  for (const Misconception& misconception : misconceptions) {
    if (misconception.gives(one) != yours[which]) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      agree += all[i].mode == one.mode && misconception.gives(all[i]) == yours[i] ? 1 : 0;
    if (agree > most) best = misconception.says;
    most = std::max(most, agree);
  }
  return best;
}

void expect_right(Judge& judge, const std::vector<Case>& all) {
  std::vector<Question> questions;
  for (const Case& one : all) questions.push_back(question(one));
  const Answers yours = judge.ask_each<std::uint32_t>(questions);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Case& one = all[i];
    judge.expect(yours[i] == right(one), [&] {
      return why(all, yours, i) + "\n  number   = " + show(one) + ", " + name(one.mode) +
             ", without its last " + std::to_string(one.drop) + (one.drop == 1 ? " bit" : " bits") +
             "\n  expected = " + show(right(one)) + "\n  yours    = " + show(yours[i]);
    });
  }
}

void expect_nearest_without_mode(Judge& judge) {
  const std::vector<Question> questions{{0b10'11, 0, 2, 0, -1}, {0b10'10, 0, 2, 1, -1}};
  const Answers yours = judge.ask_each<std::uint32_t>(questions);
  judge.expect(yours[0] == 0b11 && yours[1] == 0b10, [&] {
    return "Your code rounds otherwise where no mode is named: that is nearest_even.\n  expected = 11b and "
           "10b for 10.11b and -10.10b\n  yours    = " +
           binary(yours[0]) + "b and " + binary(yours[1]) + "b";
  });
}

// ---- By lot: which lots lead away from zero is not said, but how many do.

/// Questions whose answers lie one behind the other: to be put first, and looked at in the same order.
struct Lots {
  std::vector<Question> questions;
  Answers yours;
  std::size_t next = 0;

  /// What comes after the first `drop` bits of a random number must not matter.
  void put(Judge& judge, const Case& of, std::uint32_t first_bits) {
    const std::uint32_t others = static_cast<std::uint32_t>(judge.draw()) >> of.drop;
    questions.push_back(question(of, first_bits << (32 - of.drop) | others));
  }
  void ask(Judge& judge) { yours = judge.ask_each<std::uint32_t>(questions); }

  bool away(Judge& judge, const Case& of) {
    const std::uint32_t one = yours[next++], kept = size(inner(of));
    judge.expect(one == kept || one == kept + 1, [&] {
      return "Your code leaves the two neighbours: by lot, too, a number becomes one of them.\n  number   "
             "= " +
             show(of) + ", stochastic\n  expected = " + show(kept) + " or " + show(kept + 1) +
             "\n  yours    = " + show(one);
    });
    return one == kept + 1;
  }
};

std::string wrong_share(const Case& of, std::int64_t rest, std::int64_t yours, std::int64_t lots) {
  std::string why = "Your code throws wrong lots: the nearer a neighbour is, the more of them lead there.";
  if (yours == 0) why = "Your code gives the lot no say: this number always goes toward zero.";
  if (yours == lots) why = "Your code gives the lot no say: this number always goes away from zero.";
  if (yours == rest + 1)
    why = "Your code lets one lot too many lead away from zero; then even exact numbers move.";
  if (2 * yours == lots)
    why = "Your code throws a coin: half of the lots lead away from zero, wherever the number lies.";
  if (of.drop > 1 && yours != 0 && yours == (2 * rest > lots ? lots : 0))
    why = "Your code gives the lot no say: the nearer of the two is taken.";
  return why + "\n  number   = " + show(of) + ", stochastic; of its " + std::to_string(lots) +
         " lots these lead away from zero:\n  expected = " + std::to_string(rest) +
         "\n  yours    = " + std::to_string(yours);
}

void all_lots(Judge& judge, int drop) {
  std::vector<Case> all;
  for (std::uint32_t magnitude = 0; magnitude < 4u << drop; ++magnitude)
    for (const bool negative : {false, true})
      all.push_back({Rounding::stochastic, drop, magnitude, negative});
  Lots lots;
  for (const Case& one : all)
    for (std::uint32_t i = 0; i < one.step(); ++i) lots.put(judge, one, i);
  lots.ask(judge);
  for (const Case& one : all) {
    const std::int64_t rest = one.magnitude - inner({one.mode, drop, one.magnitude, false}) * one.step();
    std::int64_t yours = 0;
    for (std::uint32_t i = 0; i < one.step(); ++i) yours += lots.away(judge, one) ? 1 : 0;
    judge.expect(yours == rest, [&] { return wrong_share(one, rest, yours, one.step()); });
  }
}

/// Where the lots are too many: whoever lets the small ones lead away and whoever lets the large ones agree
/// on each lot together with the one as far from the other end.
void some_lots(Judge& judge, int drop) {
  struct Pair {
    Case of;
    std::uint32_t rest, lot;
  };
  const std::uint32_t last = (1u << drop) - 1;
  const auto any = static_cast<std::uint32_t>(1 + judge.draw_below(last - 1));
  std::vector<Pair> all;
  Lots lots;
  for (const std::uint32_t rest : {0u, 1u, last / 3, last / 2, last / 2 + 1, last, any}) {
    const Case one{Rounding::stochastic, drop, (1u << drop) | rest, false};
    for (const std::uint32_t i : {0u, 1u, rest - 1, rest, rest + 1, last / 5, last - 1, last}) {
      if (i > last) continue;
      all.push_back({one, rest, i});
      lots.put(judge, one, i);
      lots.put(judge, one, last - i);
    }
  }
  lots.ask(judge);
  for (const auto& [one, rest, i] : all) {
    int yours = lots.away(judge, one) ? 1 : 0;
    yours += lots.away(judge, one) ? 1 : 0;
    const int expected = (i < rest ? 1 : 0) + (last - i < rest ? 1 : 0);
    judge.expect(yours == expected, [&, &one = one, i = i] {
      return "Your code lets too many or too few lots lead away from zero: it is as many as the lost bits "
             "say, as a number.\n  number   = " +
             show(one) + ", stochastic; of the lots " + std::to_string(i) + " and " +
             std::to_string(last - i) +
             " these lead away from zero:\n  expected = " + std::to_string(expected) +
             "\n  yours    = " + std::to_string(yours);
    });
  }
}

}  // namespace

void check(Judge& judge) {
  expect_right(judge, cases(judge));
  expect_nearest_without_mode(judge);
  for (const int drop : {2, 3, 4, 5, 6, 7, 8, 1}) all_lots(judge, drop);
  for (int drop = 9; drop <= 31; ++drop) some_lots(judge, drop);
}

}  // namespace tinymp::exercise
