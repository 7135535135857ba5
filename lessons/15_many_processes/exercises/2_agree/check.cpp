// Exercise 15.2: what all processes have found. The other processes are numbers that the check has drawn; the oracle adds them.

#include <lessons/15_many_processes/exercises/2_agree/found.h>
#include <lessons/lab/classroom/judge.h>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

std::string shown(const Counts& c) {
  return std::to_string(c.values) + " values, " + std::to_string(c.nonfinite) + " not finite, " +
         std::to_string(c.zeros) + " zeros, " + std::to_string(c.subnormals) + " subnormals";
}

std::string about(const Question& q) {
  return "\n  this process:   " + shown(q.own) + "\n  all the others: " + shown(q.others);
}

std::string lines(const Question& q, const std::string& expected, const std::string& yours) {
  return about(q) + "\n  expected = " + expected + "\n  yours    = " + yours;
}

bool skips(const Counts& c) { return c.nonfinite > 0; }

std::string why(const Question& q, const Counts& right, const Counts& yours) {
  if (skips(yours) != skips(right))
    return skips(right)
               ? "Your process takes the step, and another one skips it: their weights differ from now on."
               : "Your process skips a step that all others take.";
  if (yours.nonfinite != right.nonfinite)
    return "Your number of gradients that are not finite is not that of all: the log would tell another one "
           "on each process.";
  if (yours.values == q.own.values && q.others.values > 0)
    return "Your values are those of this process alone, and the others are shares of all.";
  if (yours.values != right.values) return "Your values are not those of all processes.";
  return "Your zeros or subnormals are not those of all processes.";
}

std::string why_calls(const Answer& yours) {
  if (yours.calls == 0)
    return "Your process does not call sum(): it decides alone, and the others wait for it until they are "
           "lost.";
  return "Your process calls sum() more than once in a step: its second call meets the others' next step.";
}

void expect(Judge& judge, const Question& q, const Answer& yours) {
  judge.expect(yours.calls == 1, [&] {
    return why_calls(yours) + lines(q, "one call", std::to_string(yours.calls) + " calls");
  });
  const Counts right{q.own.values + q.others.values, q.own.nonfinite + q.others.nonfinite,
                     q.own.zeros + q.others.zeros, q.own.subnormals + q.others.subnormals},
      &f = yours.found;
  judge.expect(f.values == right.values && f.nonfinite == right.nonfinite && f.zeros == right.zeros &&
                   f.subnormals == right.subnormals,
               [&] { return why(q, right, f) + lines(q, shown(right), shown(f)); });
}

/// Of one process, all four numbers different.
Counts drawn(Judge& judge, bool has_infinity) {
  const std::int64_t step = 1 + judge.draw_below(1000), nonfinite = has_infinity ? step : 0;
  return {nonfinite + 7 * step + 4096, nonfinite, nonfinite + 2 * step + 1, nonfinite + 3 * step + 2};
}

}  // namespace

void check(Judge& judge) {
  std::vector<Question> questions{
      {{100, 0, 5, 7}, {300, 1, 6, 8}},  // another one has found an infinity
      {{100, 0, 5, 7}, {300, 0, 6, 8}},  // all is finite
      {{100, 2, 5, 7}, {300, 1, 6, 8}},  // some of both
      {{100, 1, 5, 7}, {300, 0, 6, 8}},
      {{4096, 0, 1, 2}, {0, 0, 0, 0}},  // ranks without gradients of their own
      {{100, 3, 5, 7}, {300, 4, 0, 0}},
      {{0, 0, 0, 0}, {4096, 1, 1, 2}},  // a rank without gradients has to call sum(), too
      {{0, 0, 0, 0}, {4096, 0, 1, 2}},
      {{100, 0, 100, 0}, {300, 0, 6, 300}},  // numbers that are alike
      {{7, 7, 0, 0}, {300, 70000, 6, 8}},
      {{5'000'000'000, 0, 3'000'000'001, 7}, {6'000'000'001, 0, 8, 3'000'000'000}}};
  for (int i = 0; i < 1000; ++i) questions.push_back({drawn(judge, i % 2 == 0), drawn(judge, i % 3 == 0)});
  const std::vector<Answer> answers = judge.ask_each<Answer>(questions);
  for (std::size_t i = 0; i < questions.size(); ++i) expect(judge, questions[i], answers[i]);
}

}  // namespace tinymp::exercise
