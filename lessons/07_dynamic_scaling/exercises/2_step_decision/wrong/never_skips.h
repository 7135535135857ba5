// rejected: one such step and the weights are NaN
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientScan& found, bool skip_nonfinite, StepState& state,
                          StepReport& report) {
  report = {};
  report.taken = true;
  ++state.steps;
  rule.begin(state);
}

TINYMP_HD inline void take_check(const DynamicScaling& policy, bool bad, bool last, ScaleState& s) {
  s.bad = s.bad || bad;
  if (last) move_scale(policy, s);
}
