// Exercise 7.2: is the step taken, and how does S learn of it?
//
// begin_step is called once a step for each optimizer, before any weight moves. `found` has the counts over
// all of its gradients; found.nonfinite of them are infinite or NaN. If there are any and `skip_nonfinite` is
// set, the step is skipped. Otherwise the step is taken. (`skip_nonfinite` is false for NoScaling and for a
// static S that does not skip.)
//
//     taken     report.taken = true; state.steps grows by one; then rule.begin(state): Adam needs a t =
//               state.steps that includes this step
//     skipped   report.taken = false, and nothing else changes: not state, not even the count
//
// report still holds the values of the last step; report.updates begins at zeros in both cases.
//
// take_check is called once a step for each check, one optimizer after the other. The last call of a step has
// `last` set. All optimizers share S. move_scale(policy, s) moves it, by s.bad: once a step, however many
// optimizers there are. The step is bad if a single check was bad. Between the calls s.bad keeps the result;
// move_scale resets it.
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
