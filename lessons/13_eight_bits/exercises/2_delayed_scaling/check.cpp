// Exercise 13.2: one step of delayed scaling, from any state. The oracle shifts the history as Transformer Engine does, and
// divides in double: a quotient of two floats that is rounded to a double first and then to a float is the same.

#include <lessons/13_eight_bits/exercises/2_delayed_scaling/setting.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                no_number = std::numeric_limits<float>::quiet_NaN(),
                largest_float = std::numeric_limits<float>::max();
constexpr float behind = 0x1p127f;  ///< lies behind the history

/// The rule as it should be, or as somebody writes it.
struct Way {
  bool writes = true;       ///< the new amax enters the history
  bool reads_after = true;  ///< the new amax counts already
  bool place_moves_first = false;
  bool newest = true;   ///< most_recent is obeyed
  bool oldest = false;  ///< and takes the place that comes next
  bool largest = true;  ///< max is obeyed
  bool nan_counts = false;
  bool zero_divides = false, infinity_divides = false, nan_divides = false, bad_is_one = false,
       bad_is_zero = false;
  bool bounded = true;         ///< an infinite quotient becomes the largest float
  bool bounded_keeps = false;  ///< or it keeps the old scale
  int margin = 1;              ///< its sign; 0: ignored
  bool twice_rounded = false;
};

float divided(const Way& way, const DelayedScaling& policy, float amax, float old) {
  const bool bad = !(amax > 0) || !(amax < infinity);
  const bool divides = (way.zero_divides && amax == 0) || (way.infinity_divides && amax == infinity) ||
                       (way.nan_divides && amax != amax);
  if (bad && way.bad_is_one) return 1;
  if (bad && way.bad_is_zero) return 0;
  if (bad && !divides) return old;
  const double most = std::ldexp(static_cast<double>(policy.largest), -way.margin * policy.margin);
  double quotient = most / static_cast<double>(amax);
  if (way.twice_rounded) quotient = std::ldexp(static_cast<double>(policy.largest / amax), -policy.margin);
  const auto scale =
      quotient < 0x1.ffffffp127 || quotient != quotient ? static_cast<float>(quotient) : infinity;
  if (scale == infinity) return way.bounded_keeps ? old : way.bounded ? largest_float : infinity;
  return scale;
}

/// The largest one; with way.nan_counts NaN where there is one.
float largest_of(const Way& way, const std::vector<float>& all) {
  float most = 0;
  for (const float h : all) {
    if (h > most) most = h;
    if (way.nan_counts && h != h) return no_number;
  }
  return most;
}

Moved moved(const Unmoved& of, const Way& way = {}) {
  const int length = of.policy.history_length;
  // Oldest first.
  std::vector<float> line;
  for (int i = 0; i < length; ++i)
    line.push_back(of.history.amax[static_cast<std::size_t>((of.next + i) % length)]);
  std::vector<float> after = line;
  if (way.writes) after[way.place_moves_first && length > 1 ? 1 : 0] = of.amax;
  std::rotate(after.begin(), after.begin() + 1, after.end());

  const std::vector<float>& seen = way.reads_after ? after : line;
  const bool most_recent = (of.policy.algorithm == AmaxAlgorithm::most_recent && way.newest) || !way.largest;
  const float newest = way.oldest ? after.front() : way.reads_after ? of.amax : line.back();
  const float counts = most_recent ? newest : largest_of(way, seen);

  const int next = (of.next + 1) % length;
  Moved result{divided(way, of.policy, counts, of.scale), next, of.history};
  for (int i = 0; i < length; ++i)
    result.history.amax[static_cast<std::size_t>((next + i) % length)] = after[static_cast<std::size_t>(i)];
  return result;
}

bool same_float(float a, float b) { return a == b || (a != a && b != b); }
bool same_history(const Moved& a, const Moved& b) {
  return std::ranges::equal(a.history.amax, b.history.amax, same_float);
}
bool same(const Moved& a, const Moved& b) {
  return same_float(a.scale, b.scale) && a.next == b.next && same_history(a, b);
}

struct Misconception {
  const char* says;
  Way way;
};
const Misconception misconceptions[] = {
    {"Your code reads the history before the new amax is in it: the scale comes a step too late.",
     {.reads_after = false}},
    {"Your code moves on before it writes: the new amax belongs where the oldest one is, at history[next].",
     {.place_moves_first = true}},
    {"Your code reads the place that comes next: after the step the newest amax is the one before it.",
     {.oldest = true}},
    {"Your code takes no notice of most_recent: there the newest amax alone counts.", {.newest = false}},
    {"Your code takes the newest amax where the largest of the history counts.", {.largest = false}},
    {"Your code lets a NaN into the maximum: as in fmaxf it counts for nothing.", {.nan_counts = true}},
    {"Your code divides by an infinite amax: a scale of 0 makes 0 of the whole tensor. The old scale stays.",
     {.infinity_divides = true}},
    {"Your code divides by an amax of 0. A tensor of zeros tells nothing: the old scale stays.",
     {.zero_divides = true}},
    {"Your code divides by an amax of 0. A tensor of zeros tells nothing: the old scale stays.",
     {.zero_divides = true, .bounded = false}},
    {"Your code makes a NaN of the scale: an amax of NaN tells nothing, and the old scale stays.",
     {.nan_divides = true}},
    {"Your code begins again with 1 where an amax gives no scale. The old scale stays.",
     {.bad_is_one = true}},
    {"Your code returns a scale of 0 where an amax gives none, as a function does behind an assert that is "
     "switched off: the whole tensor becomes 0, and nothing tells. The old scale stays.",
     {.bad_is_zero = true}},
    {"Your code lets a quotient overflow: the amax is so small that the scale is infinite, and 0 times it "
     "NaN. The largest "
     "float takes its place.",
     {.bounded = false}},
    {"Your code keeps the old scale where the quotient is infinite. The largest float takes its place.",
     {.bounded_keeps = true}},
    {"Your code has the margin the wrong way: 2^margin makes the scale smaller, so that a larger amax still "
     "fits.",
     {.margin = -1}},
    {"Your code forgets the margin.", {.margin = 0}},
    {"Your code rounds the quotient twice: multiply by 2^-margin first, which is exact, and then divide.",
     {.twice_rounded = true}}};

/// The misconception that gives the same in case `which`, and most often in all cases.
std::string why(const std::vector<Unmoved>& all, const std::vector<Moved>& yours, std::size_t which) {
  const Unmoved& of = all[which];
  const Moved expected = moved(of), &got = yours[which];
  const auto end = static_cast<std::size_t>(of.policy.history_length);
  if (!std::ranges::equal(std::span(got.history.amax).subspan(end),
                          std::span(expected.history.amax).subspan(end)))
    return "Your code writes behind the history, which ends at policy.history_length.";
  if (of.amax < behind && got.scale != expected.scale &&
      got.scale == divided({}, of.policy, behind, of.scale))
    return "Your code reads behind the history, which ends at policy.history_length.";
  std::string best = "Your code gives another scale than the amax that counts.";
  if (same_float(got.scale, expected.scale))
    best = "Your code leaves another history than one in which the oldest amax is replaced.";
  if (same_float(got.scale, expected.scale) && same_history(got, expected))
    best = got.next == of.next + 1
               ? "Your code runs past the end: behind the last place of the ring comes the first."
               : "Your code leaves `next` elsewhere than at the oldest amax.";
  if (same_history(got, moved(of, {.writes = false})) && !same_history(got, expected))
    best = "Your code keeps no history: the new amax takes the place of the oldest one.";
  std::int64_t most = 0;
  for (const Misconception& one : misconceptions) {
    if (!same(moved(of, one.way), got)) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < all.size(); ++i) agree += same(moved(all[i], one.way), yours[i]) ? 1 : 0;
    if (agree > most) best = one.says;
    most = std::max(most, agree);
  }
  return best;
}

std::string shown(const Histories& history, int length) {
  std::string text;
  for (int i = 0; i < length; ++i)
    text += (i > 0 ? " " : "") + decimal(history.amax[static_cast<std::size_t>(i)]);
  return "[" + text + "]";
}
std::string shown(float scale, std::int32_t next, const Histories& history, int length) {
  return "scale " + decimal(scale) + ", next " + std::to_string(next) + ", history " + shown(history, length);
}

Unmoved step(DelayedScaling policy, float scale, std::int32_t next, const std::vector<float>& history,
             float amax) {
  policy.history_length = static_cast<int>(history.size());
  Unmoved of{policy, scale, next, {}, amax};
  of.history.amax.fill(behind);
  std::ranges::copy(history, of.history.amax.begin());
  return of;
}

std::vector<Unmoved> first_questions() {
  const DelayedScaling max{.largest = 448}, recent{.largest = 57344, .algorithm = AmaxAlgorithm::most_recent};
  std::vector<Unmoved> all;
  for (const DelayedScaling& policy : {max, recent}) {
    all.push_back(step(policy, 1, 0, {0}, 2));  // a history of one
    all.push_back(step(policy, 1, 0, {0, 0, 0}, 2));
    all.push_back(step(policy, 224, 1, {2, 0, 0}, 4));  // a larger one counts at once
    all.push_back(step(policy, 112, 2, {2, 4, 0}, 1));  // a smaller one later
    all.push_back(step(policy, 112, 1, {2, 4, 3}, 1));  // the largest leaves
    all.push_back(step(policy, 8, 0, {4, 2, 3}, 0));
    all.push_back(step(policy, 8, 0, {0, 0}, 0));  // nothing but zeros
    all.push_back(step(policy, 8, 0, {4, 2}, infinity));
    all.push_back(step(policy, 8, 1, {infinity, 2}, 3));  // it has not left yet
    all.push_back(step(policy, 8, 0, {infinity, 2}, 3));  // it leaves
    all.push_back(step(policy, 8, 0, {4, 2, 1}, no_number));
    all.push_back(step(policy, 8, 1, {no_number, 2, 1}, 1));
    all.push_back(step(policy, 8, 1, {1, 2, no_number}, 1));
    all.push_back(step(policy, 8, 0, {0, 0}, no_number));
    all.push_back(step(policy, 8, 0, {0, 0}, 0x1p-130f));  // the quotient overflows
    all.push_back(step(policy, 8, 0, {0x1p-149f, 0}, 0x1p-149f));
    all.push_back(step(policy, 8, 0, {0, 0}, largest_float));
  }
  all.push_back(step({.largest = 448, .margin = 3}, 8, 0, {0, 0}, 2));
  all.push_back(step({.largest = 448, .margin = -3}, 8, 0, {0, 0}, 2));
  all.push_back(step({.largest = 448, .margin = 100}, 8, 0, {0, 0}, 3e10f));
  return all;
}

float drawn_amax(Judge& judge) {
  constexpr float odd[] = {0, infinity, no_number, 0x1p-149f};
  const std::int64_t kind = judge.draw_below(12);
  if (kind < 4) return odd[kind];
  if (kind < 8) return static_cast<float>(judge.draw_below(4096)) / 64;
  return std::bit_cast<float>(static_cast<std::uint32_t>(judge.draw_below(0x7f80'0000)));
}

Unmoved drawn(Judge& judge) {
  DelayedScaling policy;
  policy.largest = judge.draw_below(2) == 0 ? 448.0f : 57344.0f;
  if (judge.draw_below(3) == 0) policy.margin = static_cast<int>(judge.draw_below(201)) - 100;
  if (judge.draw_below(3) == 0) policy.algorithm = AmaxAlgorithm::most_recent;
  const std::int64_t length = 1 + judge.draw_below(Histories::room - 1);
  std::vector<float> history;
  for (std::int64_t i = 0; i < length; ++i) history.push_back(drawn_amax(judge));
  const auto next = static_cast<std::int32_t>(judge.draw_below(length));
  const auto scale = static_cast<float>(1 + judge.draw_below(1 << 20)) / 1024;
  return step(policy, scale, next, history, drawn_amax(judge));
}

}  // namespace

void check(Judge& judge) {
  std::vector<Unmoved> all = first_questions();
  for (int i = 0; i < 50'000; ++i) all.push_back(drawn(judge));
  const std::vector<Moved> yours = judge.ask_each<Moved>(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Unmoved& of = all[i];
    const Moved expected = moved(of);
    const int length = of.policy.history_length;
    judge.expect(same(yours[i], expected), [&] {
      return why(all, yours, i) + "\n  before   = " + shown(of.scale, of.next, of.history, length) +
             "\n  the step = amax " + decimal(of.amax) + ", largest " + decimal(of.policy.largest) +
             ", margin " + std::to_string(of.policy.margin) +
             (of.policy.algorithm == AmaxAlgorithm::max ? ", max" : ", most_recent") +
             "\n  expected = " + shown(expected.scale, expected.next, expected.history, length) +
             "\n  yours    = " + shown(yours[i].scale, yours[i].next, yours[i].history, length);
    });
  }
}

}  // namespace tinymp::exercise
