// Exercise 7.2: is the step taken, and what does S learn of it?
//
// begin_step is called once a step for each optimizer, before any weight moves. `found` tells what a look at
// all of its gradients found; found.nonfinite of them were infinite or NaN. Where `skip_nonfinite` is set
// such a step is skipped, else it is taken all the same (S = 1, or a static S that does not skip).
//
//     taken     report.taken = true; state.steps counts it; then rule.begin(state), which for Adam needs t =
//               state.steps with this step in it
//     skipped   report.taken = false, and nothing else changes: not state, not even the count
//
// report comes with what the last step left in it; report.updates begins at zeros either way.
//
// take_check is called once a step for each check, one optimizer after the other; the last call of a step has
// `last` set. All of them share S. move_scale(policy, s) moves it, by s.bad: once a step, whatever the number
// of optimizers, and it is a bad step if a single check was bad. Between the calls s.bad keeps what was
// found; move_scale puts it back.
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientCounts&, bool, StepState& state,
                          StepOutcome& report) {
  report.taken = true;
  // TODO
  rule.begin(state);
}

template <class Policy>
TINYMP_HD void take_check(const Policy& policy, bool bad, bool, ScaleState& s) {
  // TODO
  s.bad = bad;
  move_scale(policy, s);
}
