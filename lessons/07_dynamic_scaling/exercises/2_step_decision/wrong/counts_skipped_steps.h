// rejected: not even Adam's t
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientScan& found, bool skip_nonfinite, StepState& state,
                          StepReport& report) {
  report = {};
  report.taken = !(skip_nonfinite && found.nonfinite > 0);
  ++state.steps;
  if (!report.taken) return;
  rule.begin(state);
}

TINYMP_HD inline void take_check(const DynamicScaling& policy, bool bad, bool last, ScaleState& s) {
  s.bad = s.bad || bad;
  if (last) move_scale(policy, s);
}
