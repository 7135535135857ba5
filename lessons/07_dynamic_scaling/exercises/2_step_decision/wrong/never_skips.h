// rejected: one such step and the weights are NaN
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientCounts& found, bool skip_nonfinite,
                          StepState& state, StepOutcome& report) {
  report = {};
  report.taken = true;
  ++state.steps;
  rule.begin(state);
}

template <class Policy>
TINYMP_HD void take_check(const Policy& policy, bool bad, bool last, ScaleState& s) {
  s.bad = s.bad || bad;
  if (last) move_scale(policy, s);
}
