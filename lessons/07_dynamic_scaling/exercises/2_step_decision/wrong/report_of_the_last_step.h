// rejected: counts of the step before
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientCounts& found, bool skip_nonfinite,
                          StepState& state, StepOutcome& report) {
  report.taken = !(skip_nonfinite && found.nonfinite > 0);
  if (!report.taken) return;
  ++state.steps;
  rule.begin(state);
}

template <class Policy>
TINYMP_HD void take_check(const Policy& policy, bool bad, bool last, ScaleState& s) {
  s.bad = s.bad || bad;
  if (last) move_scale(policy, s);
}
