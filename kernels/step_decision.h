#pragma once

#include <kernels/step.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/loss_scaling.h>
#include <cstdint>

/// What follows from a look at the gradients: whether a step is taken, and when S moves. One text for CPU and
/// GPU.
namespace tinymp::kernels {

// <exercise step_decision>
/// The decision of a step, before any weight moves.
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientCounts& found, bool skip_nonfinite,
                          StepState& state, StepOutcome& report) {
  report = {};
  report.taken = !(skip_nonfinite && found.nonfinite > 0);
  if (!report.taken) return;
  ++state.steps;
  rule.begin(state);
}

/// What every check of a step calls, in turn. One bad check among several backs S off once.
template <class Policy>
TINYMP_HD void take_check(const Policy& policy, bool bad, bool last, ScaleState& s) {
  s.bad = s.bad || bad;
  if (last) move_scale(policy, s);
}
// </exercise step_decision>

/// What turns scaled gradients into true ones: 1 / S, computed in double, then rounded.
TINYMP_HD inline float true_factor(const ScaleState& s) {
  return static_cast<float>(1 / static_cast<double>(s.scale));
}

}  // namespace tinymp::kernels
