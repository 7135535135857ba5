// Exercise 12.1: a stochastic update. The oracle has SplitMix64 written down again, and finds the neighbours of a number by
// division.

#include <lessons/12_rounding/exercises/1_stochastic_update/setting.h>
#include <lessons/12_rounding/neighbours.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/small_float_codec.h>  // for Rounding
#include <algorithm>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

// ---- words

constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15u;

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9u;
  z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebu;
  return z ^ z >> 31;
}
std::uint64_t split(std::uint64_t seed, std::uint64_t stream) {
  return mixed(mixed(~seed) + stream * golden);
}
std::uint64_t number(std::uint64_t seed, std::uint64_t place) { return mixed(seed + (place + 1) * golden); }

/// What is asked of a word, or what somebody makes of it.
struct Key {
  bool step = true, purpose = true, place = true, same = true, upper = true, behind = false;
};
std::uint32_t word(const WordQuestion& q, std::uint64_t purpose, const Key& key = {}) {
  const bool keyed = key.step && !(key.same && q.same != 0);
  std::uint64_t seed = split(q.seed, keyed ? static_cast<std::uint64_t>(q.step) : 0);
  seed = split(seed, key.purpose ? purpose : 0);
  const std::uint64_t place = key.place ? static_cast<std::uint64_t>(q.place) + (key.behind ? 1 : 0) : 0;
  return static_cast<std::uint32_t>(number(seed, place) >> (key.upper ? 32 : 0));
}

std::string why_word(const WordQuestion& q, std::uint64_t purpose, std::uint32_t yours) {
  const auto is = [&](const Key& key) { return word(q, purpose, key) == yours; };
  if (is({.step = false}) || number(q.seed, static_cast<std::uint64_t>(q.place)) >> 32 == yours)
    return "Your code makes its words without the step: each step uses those of the one before, and a weight "
           "whose word is high never moves.";
  if (is({.place = false}))
    return "Your code gives every weight the same word: all round up together, or none does.";
  if (is({.purpose = false})) return "Your code gives weights the words of masters; split(1) is for weights.";
  if (is({.upper = false})) return "Your code takes the lower 32 bits; the word is the upper ones.";
  if (is({.behind = true}))
    return "Your code is one place too far: Rng(seed, place) counts `place` numbers as drawn.";
  if (is({.same = false})) return "Your code takes no notice of same_words_each_step.";
  return "Your code makes other words than seed, step, purpose and place say.";
}

void ask_words(Judge& judge) {
  std::vector<WordQuestion> all;
  for (const std::int64_t same : {0, 1})
    for (const std::int64_t step : {1, 2, 3, 1000})
      for (const std::int64_t place : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2},
                                       std::int64_t{101'769}, (std::int64_t{1} << 32) + 5})
        all.push_back({7, step, place, same});
  for (int i = 0; i < 2000; ++i)
    all.push_back({judge.draw(), 1 + judge.draw_below(1'000'000), judge.draw_below(1 << 30), i % 5 == 4});
  const std::vector<Words> yours =
      judge.ask(Message().put(std::uint64_t{0}).put_all(all)).take_all<Words>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::uint64_t purpose : {0u, 1u}) {
      const std::uint32_t right = word(all[i], purpose),
                          got = purpose == 0 ? yours[i].master : yours[i].weight;
      judge.expect(got == right, [&] {
        return why_word(all[i], purpose, got) + "\n  seed " + std::to_string(all[i].seed) + ", step " +
               std::to_string(all[i].step) + ", place " + std::to_string(all[i].place) +
               (all[i].same != 0 ? ", the same words each step" : "") +
               (purpose == 0 ? ", of the master" : ", of the weight") +
               "\n  expected = " + std::to_string(right) + "\n  yours    = " + std::to_string(got);
      });
    }
  }
}

// ---- updates

/// How an update is made: as it should be, or as somebody writes it.
struct Way {
  bool always_first = false;   ///< rounds the update first in every mode
  bool never_first = false;    ///< and in none
  bool only_nearest = false;   ///< whatever the mode
  bool no_subnormals = false;  ///< these to nearest
  bool random_always = false;  ///< toward zero, too
};

Moved moved_by(const MoveQuestion& q, const Way& way = {}) {
  const Format& format = formats[q.format];
  const auto w = static_cast<double>(q.w), update = static_cast<double>(q.update);
  if (q.kahan != 0) {
    const double kept = static_cast<double>(q.kept), due = nearest(format, difference(kept, update));
    const double next = nearest(format, difference(w, -due));
    const double rest = nearest(format, difference(due, -nearest(format, difference(w, next))));
    return {static_cast<float>(next), static_cast<float>(rest), 0, update != 0 && next == w && rest == kept};
  }
  auto mode = static_cast<Rounding>(q.mode);
  const bool first = (mode == Rounding::nearest_even && !way.never_first) || way.always_first;
  const double part = first ? nearest(format, update) : update, exact = difference(w, part);
  const bool small = std::abs(exact) < std::ldexp(1.0, format.smallest_exponent);
  if (way.only_nearest || (way.no_subnormals && small && mode == Rounding::stochastic))
    mode = Rounding::nearest_even;
  if (way.random_always && mode == Rounding::toward_zero) mode = Rounding::stochastic;
  const double next = mode == Rounding::nearest_even  ? nearest(format, exact)
                      : mode == Rounding::toward_zero ? toward_zero(format, exact)
                                                      : stochastic(format, exact, q.random);
  return {static_cast<float>(next), 0, update != 0 && part == 0, part != 0 && next == w};
}

bool same(const Moved& a, const Moved& b) {
  return a.next == b.next && a.compensation == b.compensation && a.underflowed == b.underflowed &&
         a.absorbed == b.absorbed;
}

struct Misconception {
  Way way;
  const char* says;
};
constexpr Misconception misconceptions[] = {
    {{.always_first = true},
     "Your code rounds the update first: what is below the smallest number is lost before the word can save "
     "it."},
    {{.never_first = true},
     "Your code rounds once where two roundings are asked for: nearest rounds the update first."},
    {{.only_nearest = true}, "Your code rounds to nearest, whatever the mode."},
    {{.never_first = true, .only_nearest = true}, "Your code rounds to nearest, whatever the mode."},
    {{.no_subnormals = true}, "Your code leaves the subnormals out: there, too, the word decides."},
    {{.random_always = true}, "Your code uses the random word toward zero, too."}};

/// The misconception that gives the same in case `which`, and most often in all cases.
std::string why(const std::vector<MoveQuestion>& all, const std::vector<Moved>& yours, std::size_t which) {
  if (all[which].kahan != 0) return "Your code does not leave the compensated update to moved_kahan.";
  const Moved right = moved_by(all[which]);
  std::string best = "Your code does not round w - update as the mode says.";
  if (yours[which].next == right.next)
    best =
        yours[which].underflowed != right.underflowed
            ? "Your code counts underflow wrongly: an update underflows only if it is not 0 and is rounded "
              "to 0 by itself."
            : "Your code counts absorption wrongly: what is subtracted is not 0, and the weight keeps its "
              "value.";
  std::int64_t most = 0;
  for (const Misconception& one : misconceptions) {
    if (!same(moved_by(all[which], one.way), yours[which])) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < all.size(); ++i) agree += same(moved_by(all[i], one.way), yours[i]) ? 1 : 0;
    if (agree > most) best = one.says;
    most = std::max(most, agree);
  }
  return best;
}

std::vector<MoveQuestion> moves(Judge& judge) {
  std::vector<MoveQuestion> all;
  const auto modes = {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic};
  for (const std::int32_t format : {0, 1})
    for (const Rounding mode : modes)
      for (const float w : {1.0f, -1.0f, 0.0f, 0x1p-20f})
        for (const float update : {0.0f, 0x1p-12f, 0x1p-9f, -0x1p-9f, 0x1.8p-26f, 1.5f, 0x1p-30f})
          for (const std::uint32_t random : {0u, 0x3fff'ffffu, 0x7fff'ffffu, 0xffff'ffffu})
            all.push_back({format, static_cast<std::int32_t>(mode), 0, w, 0, update, random});
  for (int i = 0; i < 20'000; ++i) {
    MoveQuestion q{static_cast<std::int32_t>(i % 2),
                   static_cast<std::int32_t>(*(modes.begin() + i % 3)),
                   i % 11 == 0,
                   0,
                   0,
                   0,
                   static_cast<std::uint32_t>(judge.draw())};
    const auto drawn = [&](int smallest, int largest) {
      const auto power = static_cast<int>(smallest + judge.draw_below(largest - smallest));
      return std::ldexp(static_cast<double>(static_cast<std::int32_t>(judge.draw() >> 32)) * 0x1p-31, power);
    };
    if (q.kahan != 0) q.mode = 0;
    q.w = static_cast<float>(nearest(formats[q.format], drawn(-22, 3)));
    q.kept = static_cast<float>(nearest(formats[q.format], drawn(-24, -6)));
    q.update = static_cast<float>(drawn(-32, -2));
    all.push_back(q);
  }
  return all;
}

void ask_moves(Judge& judge) {
  const std::vector<MoveQuestion> all = moves(judge);
  const std::vector<Moved> yours =
      judge.ask(Message().put(std::uint64_t{1}).put_all(all)).take_all<Moved>(all.size());
  const auto text = [](const Moved& m) {
    return "next " + decimal(m.next) + ", compensation " + decimal(m.compensation) +
           (m.underflowed != 0 ? ", underflowed" : "") + (m.absorbed != 0 ? ", absorbed" : "");
  };
  constexpr const char* names[] = {"nearest", "toward zero", "up", "down", "stochastic"};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const MoveQuestion& q = all[i];
    const Moved right = moved_by(q);
    judge.expect(same(right, yours[i]), [&] {
      return why(all, yours, i) + "\n  " + formats[q.format].name + ", " + names[q.mode] +
             (q.kahan != 0 ? ", Kahan" : "") + ", weight " + decimal(q.w) + ", compensation " +
             decimal(q.kept) + ", update " + decimal(q.update) + ", word " + std::to_string(q.random) +
             "\n  expected = " + text(right) + "\n  yours    = " + text(yours[i]);
    });
  }
}

}  // namespace

void check(Judge& judge) {
  ask_words(judge);
  ask_moves(judge);
}

}  // namespace tinymp::exercise
