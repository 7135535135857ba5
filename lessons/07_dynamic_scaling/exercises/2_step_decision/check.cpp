// Exercise 7.2: the decisions of begin_step, and take_check with one to four optimizers that share S.
// expect_decision() and after() compute the right answers without the library.

#include <kernels/step_decision.h>
#include <lessons/07_dynamic_scaling/exercises/2_step_decision/decision.h>
#include <lessons/lab/classroom/judge.h>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using namespace kernels;

struct Decision {
  bool taken;
  std::int64_t steps, updates, calls, t;
  bool operator==(const Decision&) const = default;
};

std::string shown(const Decision& d) {
  return std::string(d.taken ? "taken" : "skipped") + ", steps " + std::to_string(d.steps) +
         ", counts of updates add up to " + std::to_string(d.updates) +
         ", calls of rule.begin: " + std::to_string(d.calls) +
         (d.calls > 0 ? ", t = " + std::to_string(d.t) : "");
}

std::string why(const Decision& right, const Decision& yours, bool bad, bool skips) {
  if (yours.taken && !right.taken)
    return "Your code takes the step though a gradient is not finite: one such step makes the weights NaN.";
  if (!yours.taken && right.taken && bad && !skips)
    return "Your code skips the step, but skip_nonfinite is false: then every step is taken.";
  if (!yours.taken && right.taken) return "Your code skips the step though all gradients are finite.";
  if (!right.taken && yours.steps != right.steps)
    return "Your code counts a skipped step. Such a step changes nothing, not even Adam's t.";
  if (!right.taken && yours.calls > 0)
    return "Your code calls rule.begin for a skipped step: Adam would get the corrections of a step that was "
           "not taken.";
  if (yours.steps != right.steps) return "Your code must count each taken step exactly once.";
  if (yours.calls < right.calls)
    return "Your code does not call rule.begin: Adam would keep the corrections of the previous step.";
  if (yours.calls == 1 && yours.t != right.t)
    return "Your code counts the step after rule.begin: in the first step rule.begin must find a t of 1.";
  if (yours.updates != right.updates)
    return "Your code leaves the counts of the previous step in the report: begin_step sets them to 0.";
  return "Your code gives a wrong decision: compare the expected line with yours.";
}

void expect_decision(Judge& judge, const Undecided& of, const Decided& answer) {
  const bool bad = of.found.nonfinite > 0, skips = of.skips != 0;
  const Decision right =
      bad && skips ? Decision{false, of.steps, 0, 0, 0} : Decision{true, of.steps + 1, 0, 1, of.steps + 1};
  const Decision yours{answer.taken != 0, answer.steps, answer.updates, answer.calls, answer.t};
  const auto told = [&] {
    return "\n  of " + std::to_string(of.found.values) + " gradients " + std::to_string(of.found.nonfinite) +
           " not finite, " + std::to_string(of.found.zeros) + " zero; skip_nonfinite " +
           (skips ? "true" : "false") + ", steps so far " + std::to_string(of.steps) +
           "\n  expected = " + shown(right) + "\n  yours    = " + shown(yours);
  };
  judge.expect(yours == right, [&] { return why(right, yours, bad, skips) + told(); });
  judge.expect(answer.lr == 0.5f && answer.correction1 == 0.25f && answer.correction2 == 0.125f, [&] {
    return "Your code changes the learning rate or the corrections. begin_step must not change them; only "
           "rule.begin sets the corrections." +
           told();
  });
}

void decide(Judge& judge, const std::vector<Undecided>& all) {
  Message reply = judge.ask(Message().put(Question::decisions).put_all(all));
  const std::vector<Decided> answers = reply.take_all<Decided>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) expect_decision(judge, all[i], answers[i]);
}

std::vector<Undecided> all_decisions() {
  std::vector<Undecided> all;
  for (const std::int64_t nonfinite : {1, 0, 7}) {
    for (const int skips : {1, 0}) {
      for (const std::int64_t steps : {0, 41}) {
        for (const int was_taken : {1, 0}) {
          all.push_back({{.values = 10, .nonfinite = nonfinite}, steps, skips, was_taken});
          all.push_back(
              {{.values = 10, .nonfinite = nonfinite, .zeros = 3, .subnormals = 2}, steps, skips, was_taken});
          all.push_back({{.values = nonfinite, .nonfinite = nonfinite}, steps, skips, was_taken});
        }
      }
    }
  }
  return all;
}

std::vector<Undecided> drawn_decisions(Judge& judge, int n) {
  std::vector<Undecided> all;
  for (int i = 0; i < n; ++i) {
    const std::int64_t values = 1 + judge.draw_below(1'000'000), zeros = judge.draw_below(values);
    const std::int64_t nonfinite = judge.draw_below(2) * judge.draw_below(values - zeros + 1);
    const std::int64_t steps = judge.draw_below(1'000'000);
    const auto skips = static_cast<std::int32_t>(judge.draw_below(2));
    const auto was_taken = static_cast<std::int32_t>(judge.draw_below(2));
    all.push_back(
        {{.values = values, .nonfinite = nonfinite, .zeros = zeros, .subnormals = values - zeros - nonfinite},
         steps,
         skips,
         was_taken});
  }
  return all;
}

// ---- Several checks.

std::string shown(const ScaleState& s) {
  return "S = " + decimal(s.scale) + ", good steps in a row: " + std::to_string(s.growth_tracker) +
         (s.bad ? ", bad" : "");
}

/// A step with `checks` checks. Check i is bad if bit i of `pattern` is 1.
struct Step {
  int checks;
  unsigned pattern;
  bool bad(int i) const { return (pattern >> i & 1) != 0; }
};

std::string shown(const Step& step) {
  std::string text;
  for (int i = 0; i < step.checks; ++i)
    text += std::string(i > 0 ? ", " : "") + (step.bad(i) ? "bad" : "good");
  return text;
}

/// Returns the state after a step: a bad step halves S, and the third good step in a row doubles S.
ScaleState after(const ScaleState& before, bool bad) {
  if (bad) return {.scale = before.scale / 2, .growth_tracker = 0};
  if (before.growth_tracker == 2) return {.scale = before.scale * 2, .growth_tracker = 0};
  return {.scale = before.scale, .growth_tracker = before.growth_tracker + 1};
}

std::string why(const Step& step, int i, const ScaleState& before, const ScaleState& right,
                const ScaleState& yours) {
  const bool same = yours.scale == right.scale && yours.growth_tracker == right.growth_tracker;
  const bool last = i + 1 == step.checks;
  if (!last && !same) return "Your code moves S before the last check of the step: S moves once a step.";
  if (same) return "Your code leaves s.bad set after the step.";
  if (yours.scale == before.scale && yours.growth_tracker == before.growth_tracker)
    return "Your code does not move S after the last check.";
  if (right.growth_tracker != 0 || right.scale > before.scale)
    return "Your code counts the step as bad though all checks were good.";
  return step.bad(i) ? "Your code counts the step as good though the last check was bad: a single bad check "
                       "is enough."
                     : "Your code forgets a bad check before the last check. A good check must not clear "
                       "s.bad: a single bad check is enough.";
}

/// Steps one after the other, and the state before the first step.
struct Row {
  ScaleState first;
  std::vector<Step> steps;
};

void expect_row(Judge& judge, const Row& row, const Checked* yours) {
  ScaleState before = row.first;
  for (const Step& step : row.steps) {
    bool any = false;
    for (int i = 0; i < step.checks; ++i, ++yours) {
      any = any || step.bad(i);
      const bool last = i + 1 == step.checks;
      const ScaleState right = last ? after(before, any) : before;
      const ScaleState state{yours->scale, yours->growth_tracker, yours->bad != 0};
      judge.expect(
          state.scale == right.scale && state.growth_tracker == right.growth_tracker && (!last || !state.bad),
          [&] {
            return why(step, i, before, right, state) + "\n  checks   = " + shown(step) + "; this is check " +
                   std::to_string(i + 1) + "\n  before   = " + shown(before) +
                   "\n  expected = " + shown(right) + "\n  yours    = " + shown(state);
          });
    }
    before = after(before, any);
  }
}

void check_rows(Judge& judge, const std::vector<Row>& rows) {
  const DynamicScaling policy{.growth = 2, .backoff = 0.5, .growth_interval = 3};
  std::vector<Check> checks;
  std::vector<std::size_t> begins;
  for (const Row& row : rows) {
    begins.push_back(checks.size());
    for (const Step& step : row.steps) {
      for (int i = 0; i < step.checks; ++i)
        checks.push_back({row.first.scale, row.first.growth_tracker, checks.size() == begins.back() ? 1 : 0,
                          step.bad(i) ? 1 : 0, i + 1 == step.checks ? 1 : 0});
    }
  }
  Message reply = judge.ask(Message().put(Question::checks).put(policy).put_all(checks));
  const std::vector<Checked> yours = reply.take_all<Checked>(checks.size());
  for (std::size_t r = 0; r < rows.size(); ++r) expect_row(judge, rows[r], yours.data() + begins[r]);
}

/// Rows of one step with every pattern of checks, and rows of two steps with every pair of patterns.
std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (int checks = 1; checks <= 4; ++checks) {
    for (std::int32_t tracker = 0; tracker < 3; ++tracker) {
      const ScaleState start{.scale = 1024, .growth_tracker = tracker};
      for (unsigned pattern = 0; pattern < 1u << checks; ++pattern) {
        const Step step{checks, pattern};
        rows.push_back({start, {step}});
        for (unsigned next = 0; next < 1u << checks; ++next) rows.push_back({start, {step, {checks, next}}});
      }
    }
  }
  return rows;
}

/// Longer rows. On average more than half of their steps are good.
std::vector<Row> drawn_rows(Judge& judge, int n) {
  std::vector<Row> rows;
  for (int i = 0; i < n; ++i) {
    Row row{{.scale = static_cast<float>(1 + judge.draw_below(1 << 20)),
             .growth_tracker = static_cast<std::int32_t>(judge.draw_below(3))},
            {}};
    const int checks = 1 + i % 4;
    for (int k = 0; k < 12; ++k)
      row.steps.push_back(
          {checks, static_cast<unsigned>(judge.draw_below(2) * judge.draw_below(1 << checks))});
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

void check(Judge& judge) {
  decide(judge, all_decisions());
  check_rows(judge, all_rows());
  decide(judge, drawn_decisions(judge, 200));
  check_rows(judge, drawn_rows(judge, 200));
}

}  // namespace tinymp::exercise
