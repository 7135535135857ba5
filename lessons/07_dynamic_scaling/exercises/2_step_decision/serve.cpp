#include <kernels/step_decision.h>
#include <lessons/07_dynamic_scaling/exercises/2_step_decision/decision.h>
#include <lessons/lab/classroom/serve.h>

namespace tinymp::exercise {
namespace {

/// A rule that remembers how it was called.
struct Spy {
  std::int64_t *calls, *t;
  void begin(kernels::StepState& s) const {
    ++*calls;
    *t = s.steps;
  }
};

Decided decided(const Undecided& of) {
  std::int64_t calls = 0, t = 0;
  kernels::StepState state{.steps = of.steps, .lr = 0.5f, .correction1 = 0.25f, .correction2 = 0.125f};
  kernels::StepOutcome report{.taken = of.was_taken != 0,
                              .updates = {.values = 5, .underflowed = 3, .absorbed = 1}};
  kernels::begin_step(Spy{&calls, &t}, of.found, of.skips != 0, state, report);
  const kernels::UpdateCounts& c = report.updates;
  return {.steps = state.steps,
          .updates = c.values + c.underflowed + c.absorbed,
          .calls = calls,
          .t = t,
          .lr = state.lr,
          .correction1 = state.correction1,
          .correction2 = state.correction2,
          .taken = report.taken ? 1 : 0};
}

}  // namespace

/// The request: `decisions` and a list of Undecided; or `checks`, the policy and a list of Check.
void serve(Message& request, Message& reply) {
  if (request.take<Question>() == Question::decisions) return serve_each<Undecided>(request, reply, decided);
  const auto policy = request.take<DynamicScaling>();
  ScaleState state;
  serve_each<Check>(request, reply, [&](const Check& check) {
    if (check.begins != 0) state = {.scale = check.scale, .growth_tracker = check.growth_tracker};
    kernels::take_check(policy, check.bad != 0, check.last != 0, state);
    return Checked{state.scale, state.growth_tracker, state.bad ? 1 : 0};
  });
}

}  // namespace tinymp::exercise
