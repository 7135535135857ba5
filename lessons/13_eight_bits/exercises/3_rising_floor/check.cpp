// Exercise 13.3: S under a floor that rises, one step at a time. The factors are powers of two, so that the oracle is exact
// in double, and it looks the floor up from the last one to the first.

#include <lessons/13_eight_bits/exercises/3_rising_floor/setting.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

/// The rule as it should be, or as somebody writes it.
struct Way {
  bool asks_bad = true, asks_good = false;  ///< the floor holds after bad steps, after good ones
  bool only_growth = false;                 ///< and of the good ones after those that grow
  int later = 0;                            ///< the floor of another step: -1 of the one before
  bool replaces = false;                    ///< S becomes the floor, also from above
  bool replaces_if_any = false;             ///< the same, but not where there is none
  bool lowers = false;                      ///< S goes down to the floor, and not up
  bool before = false;                      ///< S is lifted first, and backs off then
  bool lifts_instead = false;               ///< where the floor is above S there is no back-off
  bool counts_bad = true, counts_good = true;
  bool keeps_count = false;  ///< the count of good steps goes on
};

double floor_of(const ScaleFloors& floors, std::int64_t step) {
  for (int i = floors.count; i-- > 0;)
    if (floors.at[i].step <= step) return static_cast<double>(floors.at[i].value);
  return 0;
}

Moved moved(const Unmoved& of, const Way& way = {}) {
  const DynamicScaling& dynamic = of.policy.dynamic;
  const bool bad = of.bad != 0;
  const double floor = floor_of(of.policy.floor, of.steps + 1 + way.later);
  double scale = static_cast<double>(of.scale);
  if (way.before && bad) scale = std::max(scale, floor);
  const bool grows = !bad && of.growth_tracker + 1 == dynamic.growth_interval;
  std::int32_t row = bad || grows ? 0 : of.growth_tracker + 1;
  if (bad && way.keeps_count) row = of.growth_tracker;
  if (bad) scale *= dynamic.backoff;
  if (grows && scale * dynamic.growth < 0x1p128) scale *= dynamic.growth;
  scale = static_cast<double>(static_cast<float>(scale));  // subnormal numbers have fewer bits
  const bool holds = bad ? way.asks_bad && !way.before : way.asks_good && (grows || !way.only_growth);
  if (holds) {
    if (way.lowers)
      scale = std::min(scale, floor);
    else if (way.replaces || (way.replaces_if_any && floor > 0))
      scale = floor;
    else
      scale = std::max(scale, floor);
  }
  if (bad && way.lifts_instead && static_cast<double>(of.scale) < floor)
    scale = static_cast<double>(of.scale);
  const bool counts = bad ? way.counts_bad : way.counts_good;
  return {of.steps + (counts ? 1 : 0), static_cast<float>(scale), row, 0};
}

bool same(const Moved& a, const Moved& b) {
  return a.steps == b.steps && a.scale == b.scale && a.growth_tracker == b.growth_tracker && a.bad == b.bad;
}

struct Misconception {
  const char* says;
  Way way;
};
const Misconception misconceptions[] = {
    {"Your code knows no floor: S has backed off below that of this step. (Is s.bad still true when you "
     "ask?)",
     {.asks_bad = false}},
    {"Your code applies the floor after good steps, too: one that has risen lifts S at the next overflow, "
     "and not before.",
     {.asks_good = true}},
    {"Your code applies the floor to growth, too: only a back-off meets it.",
     {.asks_good = true, .only_growth = true}},
    {"Your code asks good steps and not bad ones: s.bad is false after move_scale(policy.dynamic, s), "
     "whatever it was.",
     {.asks_bad = false, .asks_good = true}},
    {"Your code takes the floor of the step before: steps count from 1, and s.steps is 0 in the first call.",
     {.later = -1}},
    {"Your code takes the floor of the next step.", {.later = 1}},
    {"Your code puts the floor in the place of S after every overflow: S above the floor stays as it is.",
     {.replaces = true}},
    {"Your code puts the floor in the place of S after every overflow: S above the floor stays as it is.",
     {.replaces_if_any = true}},
    {"Your code takes the smaller of S and the floor. A floor is a lower bound.", {.lowers = true}},
    {"Your code lifts S first and backs off then: it ends below the floor.", {.before = true}},
    {"Your code leaves a bad step uncounted: s.steps counts all steps, and the floor rises with it.",
     {.counts_bad = false}},
    {"Your code counts bad steps only: s.steps counts all steps, and the floor rises with it.",
     {.counts_good = false}},
    {"Your code counts no steps: s.steps goes up by one in every call.",
     {.counts_bad = false, .counts_good = false}},
    {"Your code leaves S where it is when the floor is above it: there it becomes the floor.",
     {.lifts_instead = true}},
    {"Your code leaves the count of good steps after a bad one: move_scale(policy.dynamic, s) does that "
     "part.",
     {.keeps_count = true}}};

/// The misconception that gives the same in case `which`, and most often in all cases.
std::string why(const std::vector<Unmoved>& all, const std::vector<Moved>& yours, std::size_t which) {
  const Moved expected = moved(all[which]), &got = yours[which];
  std::string best = "Your code gives another S than dynamic scaling with a floor under its back-off.";
  if (got.scale == expected.scale) best = "Your code leaves another count than dynamic scaling.";
  if (got.bad != 0)
    best = "Your code leaves the state bad: move_scale(policy.dynamic, s) sets s.bad to false.";
  std::int64_t most = 0;
  for (const Misconception& one : misconceptions) {
    if (!same(moved(all[which], one.way), got)) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < all.size(); ++i) agree += same(moved(all[i], one.way), yours[i]) ? 1 : 0;
    if (agree > most) best = one.says;
    most = std::max(most, agree);
  }
  return best;
}

ScaleFloors floors(const std::vector<ScaleFloor>& all) {
  ScaleFloors some;
  for (const ScaleFloor& one : all) some.at[some.count++] = one;
  return some;
}

std::vector<Unmoved> first_questions() {
  EnhancedScaling policy{.dynamic = {.growth_interval = 3}, .floor = floors({{1, 64}, {5, 1024}})};
  std::vector<Unmoved> all;
  all.push_back({policy, 0, 65536, 0, 0});
  for (const std::int64_t before : {0, 1, 2, 3, 4, 5, 1000})  // the floor rises with step 5: before = 4
    for (const float scale : {65536.0f, 4096.0f, 2048.0f, 1024.0f, 512.0f, 128.0f, 64.0f, 32.0f, 1.0f})
      for (const std::int32_t row : {0, 1, 2})
        for (const std::int32_t bad : {1, 0}) all.push_back({policy, before, scale, row, bad});
  policy.floor = floors({{4, 8}});
  for (const std::int64_t before : {0, 2, 3, 4})  // without a floor at first
    for (const float scale : {4.0f, 0x1p-149f, 0.0f}) all.push_back({policy, before, scale, 0, 1});
  policy.floor = floors({{1, 8}, {3'000'000'001, 64}});  // more steps than an int counts
  for (const std::int64_t before : {2'999'999'999, 3'000'000'000}) all.push_back({policy, before, 4, 0, 1});
  policy.floor = {};
  for (const float scale : {1.0f, 0x1p-140f}) all.push_back({policy, 7, scale, 0, 1});
  return all;
}

Unmoved drawn(Judge& judge) {
  constexpr double growths[] = {2, 4, 0x1p30}, backoffs[] = {0.5, 0.25, 0x1p-20};
  Unmoved of{};
  of.policy.dynamic = {.growth = growths[judge.draw_below(3)],
                       .backoff = backoffs[judge.draw_below(3)],
                       .growth_interval = static_cast<int>(1 + judge.draw_below(4))};
  std::int64_t step = 0;
  double value = 1;
  const std::int64_t count = judge.draw_below(ScaleFloors::most + 1);
  for (std::int64_t i = 0; i < count; ++i) {
    step += 1 + judge.draw_below(20);
    value *= 1 + static_cast<double>(judge.draw_below(64)) / 8;
    of.policy.floor.at[of.policy.floor.count++] = {step, static_cast<float>(value)};
  }
  // Half of them where a floor begins.
  of.steps = count > 0 && judge.draw_below(2) == 0
                 ? of.policy.floor.at[judge.draw_below(count)].step - 2 + judge.draw_below(3)
                 : judge.draw_below(200);
  of.steps = std::max<std::int64_t>(of.steps, 0);
  of.scale = std::ldexp(static_cast<float>(1 + judge.draw_below(1 << 12)),
                        static_cast<int>(judge.draw_below(20)) - 12);
  of.growth_tracker = static_cast<std::int32_t>(judge.draw_below(of.policy.dynamic.growth_interval));
  of.bad = judge.draw_below(3) > 0 ? 1 : 0;
  return of;
}

std::string shown(std::int64_t steps, float scale, std::int32_t row) {
  return "S = " + decimal(scale) + ", good steps in a row: " + std::to_string(row) +
         ", steps: " + std::to_string(steps);
}
std::string shown(const ScaleFloors& of) {
  std::string text;
  for (int i = 0; i < of.count; ++i)
    text += (i > 0 ? ", " : "") + decimal(of.at[i].value) + " from step " + std::to_string(of.at[i].step);
  return text.empty() ? "none" : text;
}

}  // namespace

void check(Judge& judge) {
  std::vector<Unmoved> all = first_questions();
  for (int i = 0; i < 30'000; ++i) all.push_back(drawn(judge));
  const std::vector<Moved> yours = judge.ask_each<Moved>(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Unmoved& of = all[i];
    const Moved expected = moved(of);
    judge.expect(same(yours[i], expected), [&] {
      return why(all, yours, i) + "\n  floors   = " + shown(of.policy.floor) +
             "\n  before   = " + shown(of.steps, of.scale, of.growth_tracker) +
             "\n  the step = " + (of.bad != 0 ? "bad" : "good") + ", growth " +
             decimal(static_cast<float>(of.policy.dynamic.growth)) + ", backoff " +
             decimal(static_cast<float>(of.policy.dynamic.backoff)) + ", interval " +
             std::to_string(of.policy.dynamic.growth_interval) +
             "\n  expected = " + shown(expected.steps, expected.scale, expected.growth_tracker) +
             "\n  yours    = " + shown(yours[i].steps, yours[i].scale, yours[i].growth_tracker) +
             (yours[i].bad != 0 ? ", bad" : "");
    });
  }
}

}  // namespace tinymp::exercise
