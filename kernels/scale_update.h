#pragma once

#include <kernels/step.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/recipe.h>
#include <cmath>
#include <cstdint>
#include <limits>

/// What follows from a look at the gradients: whether a step is taken, and how dynamic loss scaling moves S
/// after it, with the semantics of PyTorch's GradScaler (torch/amp/grad_scaler.py). One text for CPU and GPU.
namespace tinymp::kernels {

/// Lives on the device of the gradients.
struct ScaleState {
  float scale = 1;
  std::int32_t growth_tracker = 0;  ///< good steps in a row
  bool bad = false;                 ///< a check of this step found something that is not finite
};

// <exercise move_scale>
///   bad   S = S x backoff, the count of good steps starts again; there is no lower bound
///   good  after growth_interval in a row S = S x growth, unless that is infinite, and the count starts again
TINYMP_HD inline void move_scale(const DynamicScaling& policy, ScaleState& s) {
  if (s.bad) {
    s.scale = static_cast<float>(static_cast<double>(s.scale) * policy.backoff);
    s.growth_tracker = 0;
  } else if (++s.growth_tracker == policy.growth_interval) {
    const double grown = static_cast<double>(s.scale) * policy.growth;
    const float rounded = static_cast<float>(grown);
    if (rounded < std::numeric_limits<float>::infinity()) s.scale = rounded;
    s.growth_tracker = 0;
  }
  s.bad = false;
}
// </exercise move_scale>

// <exercise step_decision>
/// The decision of a step, before any weight moves.
template <class Rule>
TINYMP_HD void begin_step(const Rule& rule, const GradientScan& found, bool skip_nonfinite, StepState& state,
                          StepReport& report) {
  report = {};
  report.taken = !(skip_nonfinite && found.nonfinite > 0);
  if (!report.taken) return;
  ++state.steps;
  rule.begin(state);
}

/// What every check of a step calls, in turn. One bad check among several backs S off once.
TINYMP_HD inline void take_check(const DynamicScaling& policy, bool bad, bool last, ScaleState& s) {
  s.bad = s.bad || bad;
  if (last) move_scale(policy, s);
}
// </exercise step_decision>

/// What turns scaled gradients into true ones: 1 / S, computed in double, then rounded.
TINYMP_HD inline float true_factor(const ScaleState& s) {
  return static_cast<float>(1 / static_cast<double>(s.scale));
}

}  // namespace tinymp::kernels
