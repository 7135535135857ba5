// Exercise 7.1: how S moves, along histories of good and bad steps. The oracle computes the count after each step
// from the whole history, and multiplies S in integer arithmetic.

#include <lessons/07_dynamic_scaling/exercises/1_move_scale/moved.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/loss_scaling.h>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Number {
  unsigned __int128 digits;
  int exponent;  ///< digits * 2^exponent
};

Number number(double x) {
  int exponent = 0;
  const double digits = std::frexp(x, &exponent);  // below 1
  return {static_cast<unsigned __int128>(std::ldexp(digits, 53)), exponent - 53};
}

/// Rounds x to at most `most_digits` bits, with an exponent of at least `lowest`. A number in the middle of two
/// becomes the even one.
Number rounded(Number x, int most_digits, int lowest) {
  int width = 0;
  while (width < 127 && x.digits >> width != 0) ++width;
  const int drop = std::max(width - most_digits, lowest - x.exponent);
  if (drop <= 0) return x;
  if (drop > 126) return {0, lowest};
  const unsigned __int128 one = 1, rest = x.digits & ((one << drop) - 1), half = one << (drop - 1);
  const unsigned __int128 kept = x.digits >> drop;
  return {kept + (rest > half || (rest == half && kept % 2 == 1) ? 1 : 0), x.exponent + drop};
}

/// The product of x and factor: computed exactly, then rounded to a double, then to a float.
float product(float x, double factor) {
  const Number a = number(static_cast<double>(x)), b = number(factor);
  const Number exact{a.digits * b.digits, a.exponent + b.exponent};
  const Number result = rounded(rounded(exact, 53, -1074), 24, -149);
  const double value = std::ldexp(static_cast<double>(result.digits), result.exponent);
  return value < 0x1p128 ? static_cast<float>(value) : infinity;
}

/// A run: its policy, its first state, and 'g' (good) or 'b' (bad) for each step.
struct Run {
  DynamicScaling policy;
  ScaleState first;
  std::string steps;
};

/// Returns the count after the first `end` steps, and true if the last of these steps makes the count
/// growth_interval.
std::pair<std::int64_t, bool> count_after(const Run& run, std::size_t end) {
  std::int64_t row = 0, begin = run.first.growth_tracker;
  for (std::size_t i = end; i > 0 && run.steps[i - 1] == 'g'; --i) ++row;
  if (row < static_cast<std::int64_t>(end)) begin = 0;  // a bad step lies before the row
  const std::int64_t interval = run.policy.growth_interval;
  if (begin >= interval) return {begin + row, false};
  return {(begin + row) % interval, row > 0 && (begin + row) % interval == 0};
}

std::string shown(const ScaleState& s) {
  return "S = " + decimal(s.scale) + ", good steps in a row: " + std::to_string(s.growth_tracker) +
         (s.bad ? ", bad" : "");
}

struct Step {
  const DynamicScaling& policy;
  ScaleState before, right, yours;
  bool bad, grows;
};

/// The product of x and a factor that is first rounded to a float, a common mistake.
float short_product(float x, double factor) { return x * static_cast<float>(factor); }

std::string why_bad(const Step& step) {
  const ScaleState &right = step.right, &yours = step.yours;
  if (yours.scale == right.scale && yours.growth_tracker == step.before.growth_tracker)
    return "Your code goes on counting after a bad step. A bad step sets the count to 0: S grows after "
           "growth_interval good steps in a row, not in all.";
  if (yours.scale == right.scale)
    return "Your code leaves a wrong count after a bad step: a bad step sets the count to 0.";
  if (yours.scale > right.scale && right.scale < 1 && (yours.scale == 1 || yours.scale == step.before.scale))
    return "Your code stops S on its way down. S has no lower bound: gradients that overflow at S = 1 need "
           "an S below 1.";
  if (yours.scale == step.before.scale)
    return "Your code leaves S where it is though a gradient overflowed: the next step will overflow again.";
  if (yours.scale == product(step.before.scale, step.policy.growth))
    return "Your code lets S grow though a gradient overflowed: good and bad steps are mixed up.";
  if (yours.scale == short_product(step.before.scale, step.policy.backoff))
    return "Your code rounds backoff to a float. But backoff is a double: the product must be formed in "
           "double and rounded once.";
  return "Your code gives a wrong S after a bad step: the new S is S x backoff.";
}

std::string why_grown(const Step& step) {
  const ScaleState &before = step.before, &right = step.right, &yours = step.yours;
  const bool at_the_end = product(before.scale, step.policy.growth) == infinity;
  if (yours.scale == infinity)
    return "Your code makes S infinite. Then every loss and every gradient is infinite, and no step is ever "
           "taken again.";
  if (at_the_end && yours.scale != before.scale)
    return "Your code moves S although S x growth is infinite: S must not change then, not even to the "
           "largest float.";
  if (yours.scale == right.scale && yours.growth_tracker == before.growth_tracker + 1)
    return at_the_end ? "Your code goes on counting: the count starts again after growth_interval good "
                        "steps, also where S cannot grow."
                      : "Your code goes on counting when S has grown: the count must start again at 0.";
  if (yours.scale == right.scale)
    return "Your code leaves a wrong count after growth_interval good steps: the count starts again at 0.";
  if (yours.scale == before.scale)
    return "Your code does not let S grow: S grows at the step that makes the count growth_interval, not one "
           "step later.";
  if (yours.scale == short_product(before.scale, step.policy.growth))
    return "Your code rounds growth to a float. But growth is a double: the product must be formed in double "
           "and rounded once.";
  return "Your code gives a wrong S after growth_interval good steps: the new S is S x growth.";
}

std::string why_counted(const Step& step) {
  const ScaleState &before = step.before, &right = step.right, &yours = step.yours;
  const int interval = step.policy.growth_interval;
  if (before.growth_tracker >= interval)
    return "Your code does not go on counting from a restored count at or beyond growth_interval. Such a "
           "count never becomes equal to growth_interval, so S does not grow.";
  if (yours.scale != before.scale)
    return before.growth_tracker + 2 == interval
               ? "Your code moves S one good step too early."
               : "Your code moves S after a good step, but the count is not yet growth_interval.";
  if (yours.growth_tracker == before.growth_tracker) return "Your code does not count a good step.";
  return "Your count is " + std::to_string(yours.growth_tracker) + " where " +
         std::to_string(right.growth_tracker) + " good steps came in a row.";
}

std::string report(const Step& step) {
  const bool same =
      step.yours.scale == step.right.scale && step.yours.growth_tracker == step.right.growth_tracker;
  const std::string why =
      same         ? "Your code leaves the state bad after the step: the next step would count as bad too."
      : step.bad   ? why_bad(step)
      : step.grows ? why_grown(step)
                   : why_counted(step);
  return why + "\n  before   = " + shown(step.before) + "\n  the step = " + (step.bad ? "bad" : "good") +
         ", growth " + std::to_string(step.policy.growth) + ", backoff " +
         std::to_string(step.policy.backoff) + ", growth_interval " +
         std::to_string(step.policy.growth_interval) + "\n  expected = " + shown(step.right) +
         "\n  yours    = " + shown(step.yours);
}

/// A run, and the states before and after each of its steps: the right ones and yours.
struct Path {
  explicit Path(Run of) : run(std::move(of)) {
    ScaleState state = run.first;
    for (std::size_t i = 0; i < run.steps.size(); ++i) {
      state.bad = run.steps[i] == 'b';
      before.push_back(state);
      const auto [count, grown] = count_after(run, i + 1);
      if (state.bad) state.scale = product(state.scale, run.policy.backoff);
      if (grown && product(state.scale, run.policy.growth) < infinity)
        state.scale = product(state.scale, run.policy.growth);
      state.growth_tracker = static_cast<std::int32_t>(count);
      right.push_back({state.scale, state.growth_tracker});
      grows.push_back(grown);
    }
  }

  Run run;
  std::vector<ScaleState> before, right;
  std::vector<bool> grows;
  std::vector<ScaleState> yours{};
};

/// Asks for all paths at once: request i holds step i of every path. before[i] shows the right answer to step i - 1,
/// so request i must come after the reply to request i - 1.
void ask(Judge& judge, std::vector<Path>& paths) {
  for (std::size_t i = 0;; ++i) {
    std::vector<Unmoved> states;
    for (const Path& path : paths)
      if (i < path.before.size()) {
        const ScaleState& s = path.before[i];
        states.push_back({path.run.policy, s.scale, s.growth_tracker, s.bad ? 1 : 0});
      }
    if (states.empty()) return;
    const std::vector<Moved> moved = judge.ask_each<Moved>(states);
    auto next = moved.begin();
    for (Path& path : paths)
      if (i < path.before.size()) {
        path.yours.push_back({next->scale, next->growth_tracker, next->bad != 0});
        ++next;
      }
  }
}

void follow(Judge& judge, std::vector<Path> paths) {
  ask(judge, paths);
  for (const Path& path : paths)
    for (std::size_t i = 0; i < path.before.size(); ++i) {
      const ScaleState &yours = path.yours[i], &right = path.right[i];
      const bool same = yours.scale == right.scale && yours.growth_tracker == right.growth_tracker;
      judge.expect(same && !yours.bad, [&] {
        ScaleState was = path.before[i];
        was.bad = false;
        return report({path.run.policy, was, right, yours, path.run.steps[i] == 'b', path.grows[i]});
      });
    }
}
void follow(Judge& judge, const Run& run) { follow(judge, std::vector{Path(run)}); }

Run random_run(Judge& judge) {
  constexpr double growths[] = {2, 1.5, 1.001, 4, 3.3, 1e30}, backoffs[] = {0.5, 0.25, 0.1, 0.999, 0x1p-40};
  constexpr float scales[] = {65536, 1, 1000, 0x1.fffffep127f, 0x1p-140f, 3.7f};
  constexpr int intervals[] = {1, 2, 3, 5, 20, 2000};
  Run run;
  run.policy = {.initial = 0,
                .growth = growths[judge.draw_below(6)],
                .backoff = backoffs[judge.draw_below(5)],
                .growth_interval = intervals[judge.draw_below(6)]};
  run.first.scale = scales[judge.draw_below(6)];
  run.first.growth_tracker = static_cast<std::int32_t>(judge.draw_below(4));
  if (run.policy.growth_interval == 2000) run.first.growth_tracker += 1990;
  const std::int64_t one_in = 2 + judge.draw_below(60);
  for (int i = 0; i < 300; ++i) run.steps += judge.draw_below(one_in) == 0 ? 'b' : 'g';
  return run;
}

}  // namespace

void check(Judge& judge) {
  const DynamicScaling three{.initial = 1024, .growth = 2, .backoff = 0.5, .growth_interval = 3};
  const ScaleState start{.scale = 1024};
  for (const char* const steps : {"b", "g", "gg", "ggg", "gggg", "gb", "ggbg", "ggbggg", "gggggg", "bb"})
    follow(judge, {three, start, steps});
  follow(judge, {three, {.scale = 4}, "bbbbbb"});
  follow(judge, {three, {.scale = 0x1p-147f}, "bbbbggggb"});  // down to 0, where S stays
  follow(judge, {three, {.scale = 0x1p126f}, "gggggggggbggggggg"});
  follow(judge, {three, {.scale = 64, .growth_tracker = 2}, "ggggg"});
  for (const std::int32_t beyond : {3, 7})
    follow(judge, {three, {.scale = 64, .growth_tracker = beyond}, "ggggbggggg"});
  follow(judge, {{.growth_interval = 1}, start, "ggbggbb"});
  follow(judge, {{.growth = 1.001, .backoff = 0.1, .growth_interval = 2}, {.scale = 1000}, "ggggbggbgg"});
  follow(judge, {{.growth = 1e40, .growth_interval = 2}, {.scale = 1}, "gggg"});
  std::vector<Path> drawn;
  for (int i = 0; i < 400; ++i) drawn.emplace_back(random_run(judge));
  follow(judge, std::move(drawn));
}

}  // namespace tinymp::exercise
