// Exercise 7.2: every decision there is, for one to four optimizers that share a scale. What is right is
// written down here as numbers.

#include <kernels/scale_update.h>
#include <lessons/classroom/judge.h>
#include <array>
#include <string>

namespace tinymp::exercise {
namespace {

using namespace kernels;

/// A rule that remembers how it was called.
struct Spy {
  int* calls;
  std::int64_t* t;
  void begin(StepState& s) const {
    ++*calls;
    *t = s.steps;
  }
};

struct Decision {
  bool taken;
  std::int64_t steps, updates;
  int calls;
  std::int64_t t;
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
    return "A gradient is not finite, and the step is taken: one such step and the weights are NaN.";
  if (!yours.taken && right.taken && bad && !skips)
    return "The step was skipped, and nobody asked for that: without skip_nonfinite it is taken.";
  if (!yours.taken && right.taken) return "All gradients are finite, and the step was skipped.";
  if (!right.taken && yours.steps != right.steps)
    return "A skipped step is counted. It changes nothing, not even Adam's t.";
  if (!right.taken && yours.calls > 0)
    return "A skipped step prepares the rule: Adam's corrections would be those of a step that never was.";
  if (yours.steps != right.steps) return "A step that is taken is counted, once.";
  if (yours.calls < right.calls)
    return "The rule was not prepared: Adam would have the corrections of the step before.";
  if (yours.calls == 1 && yours.t != right.t)
    return "The step is counted after rule.begin: Adam needs its t there, 1 in the first step.";
  if (yours.updates != right.updates)
    return "The report still holds the counts of the step before: it has to begin at zeros.";
  return "The decision is another.";
}

void decide(Judge& judge, const GradientScan& found, bool skips, std::int64_t steps, bool was_taken) {
  int calls = 0;
  std::int64_t t = 0;
  StepState state{.steps = steps, .lr = 0.5f, .correction1 = 0.25f, .correction2 = 0.125f};
  StepReport report{.taken = was_taken, .updates = {.values = 5, .underflowed = 3, .absorbed = 1}};
  kernels::begin_step(Spy{&calls, &t}, found, skips, state, report);
  const bool bad = found.nonfinite > 0;
  const Decision right =
      bad && skips ? Decision{false, steps, 0, 0, 0} : Decision{true, steps + 1, 0, 1, steps + 1};
  const UpdateCounts& c = report.updates;
  const Decision yours{report.taken, state.steps, c.values + c.underflowed + c.absorbed, calls, t};
  const auto told = [&] {
    return "\n  of " + std::to_string(found.values) + " gradients " + std::to_string(found.nonfinite) +
           " not finite, " + std::to_string(found.zeros) + " zero; skip_nonfinite " +
           (skips ? "true" : "false") + ", steps so far " + std::to_string(steps) +
           "\n  expected = " + shown(right) + "\n  yours    = " + shown(yours);
  };
  judge.expect(yours == right, [&] { return why(right, yours, bad, skips) + told(); });
  judge.expect(state.lr == 0.5f && state.correction1 == 0.25f && state.correction2 == 0.125f, [&] {
    return "The learning rate and the corrections are not begin_step's to change; the rule sets the "
           "corrections." +
           told();
  });
}

// ---- Several checks.

std::string shown(const ScaleState& s) {
  return "S = " + decimal(s.scale) + ", good steps in a row: " + std::to_string(s.growth_tracker) +
         (s.bad ? ", bad" : "");
}

/// The bits of `pattern` say which of `checks` are bad.
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

/// S halves after a bad step and doubles after the third good one.
ScaleState after(const ScaleState& before, bool bad) {
  if (bad) return {.scale = before.scale / 2, .growth_tracker = 0};
  if (before.growth_tracker == 2) return {.scale = before.scale * 2, .growth_tracker = 0};
  return {.scale = before.scale, .growth_tracker = before.growth_tracker + 1};
}

std::string why(const Step& step, int i, const ScaleState& before, const ScaleState& right,
                const ScaleState& yours) {
  const bool same = yours.scale == right.scale && yours.growth_tracker == right.growth_tracker;
  const bool last = i + 1 == step.checks;
  if (!last && !same) return "S moved before the last check of the step was in: it moves once a step.";
  if (same) return "s.bad is still set after the step.";
  if (yours.scale == before.scale && yours.growth_tracker == before.growth_tracker)
    return "The last check is in, and S has not moved.";
  if (right.growth_tracker != 0 || right.scale > before.scale)
    return "All checks were good, and the step counts as bad.";
  return step.bad(i) ? "The last check was bad, and the step counts as good: a single bad check is enough."
                     : "A check before the last was bad, and the good ones after it have wiped that out: a "
                       "single bad check is enough.";
}

void check_steps(Judge& judge, ScaleState state, const Step* steps, int count) {
  const DynamicScaling policy{.growth = 2, .backoff = 0.5, .growth_interval = 3};
  for (int n = 0; n < count; ++n) {
    const Step& step = steps[n];
    const ScaleState before = state;
    bool any = false;
    for (int i = 0; i < step.checks; ++i) {
      any = any || step.bad(i);
      const bool last = i + 1 == step.checks;
      ScaleState right = last ? after(before, any) : before;
      kernels::take_check(policy, step.bad(i), last, state);
      judge.expect(
          state.scale == right.scale && state.growth_tracker == right.growth_tracker && (!last || !state.bad),
          [&] {
            return why(step, i, before, right, state) + "\n  checks   = " + shown(step) +
                   "; this is number " + std::to_string(i + 1) + "\n  before   = " + shown(before) +
                   "\n  expected = " + shown(right) + "\n  yours    = " + shown(state);
          });
    }
  }
}

}  // namespace

void check(Judge& judge) {
  for (const std::int64_t nonfinite : {1, 0, 7}) {
    for (const bool skips : {true, false}) {
      for (const std::int64_t steps : {0, 41}) {
        for (const bool was_taken : {true, false}) {
          decide(judge, {.values = 10, .nonfinite = nonfinite}, skips, steps, was_taken);
          decide(judge, {.values = 10, .nonfinite = nonfinite, .zeros = 3, .subnormals = 2}, skips, steps,
                 was_taken);
          decide(judge, {.values = nonfinite, .nonfinite = nonfinite}, skips, steps, was_taken);
        }
      }
    }
  }
  for (int checks = 1; checks <= 4; ++checks) {
    for (std::int32_t tracker = 0; tracker < 3; ++tracker) {
      const ScaleState start{.scale = 1024, .growth_tracker = tracker};
      for (unsigned pattern = 0; pattern < 1u << checks; ++pattern) {
        const Step step{checks, pattern};
        check_steps(judge, start, &step, 1);
        for (unsigned next = 0; next < 1u << checks; ++next) {
          const Step two[] = {step, {checks, next}};
          check_steps(judge, start, two, 2);
        }
      }
    }
  }
}

}  // namespace tinymp::exercise
