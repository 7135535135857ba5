// Exercise 7.2: is the step taken, and when does S move?
//
// begin_step is called once a step for each optimizer, before any weight moves. found.nonfinite counts the
// gradients of this optimizer that are infinite or NaN. If found.nonfinite is above 0 and `skip_nonfinite` is
// true, the step is skipped. Otherwise the step is taken. (`skip_nonfinite` is false for NoScaling and for a
// static S that does not skip.)
//
//     always    the counts in report.updates become 0; on entry report holds the values of the last step
//     taken     report.taken becomes true, state.steps grows by one, and then rule.begin(state) is called:
//               Adam's t is state.steps, and it must include this step
//     skipped   report.taken becomes false, and state does not change, not even state.steps
//
// take_check is called in every step, once for each optimizer; `bad` tells whether the check of this optimizer
// is bad. The step is bad if a single check is bad: between the calls of a step s.bad must remember a bad check.
// In the last call of a step `last` is true. All optimizers share S, and S moves once a step: only the last call
// calls move_scale(policy, s). move_scale reads s.bad and sets s.bad to false.
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
