#pragma once

#include <kernels/cuda/step_pass.h>
#include <kernels/formulas/rounded_update.h>

/// A step whose updates are rounded stochastically or toward zero, or compensated. Tensors may have any formats.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class Rule>
__device__ void move_rounded(const Rule& rule, const Arenas& a, const Values& compensation,
                             const UpdateRounding& how, std::int64_t n, float factor, const StepState& now,
                             Moves& moves) {
  const UpdateWords words(how, now.steps);
  for (std::int64_t i = first(); i < n; i += stride()) {
    const float w = a.master.get<float>(i), g = a.gradients.get<float>(i) * factor;
    float m[2] = {};
    TINYMP_UNROLL
    for (int k = 0; k < Rule::moment_count; ++k) m[k] = a.moments[k].get<float>(i);
    rule.moments(w, g, m);
    TINYMP_UNROLL
    for (int k = 0; k < Rule::moment_count; ++k) {
      m[k] = a.moments[k].rounded(m[k]);
      a.moments[k].set(i, m[k]);
    }
    const float update = rule.update(w, g, m, now);
    const std::uint32_t word = how.masters == Rounding::stochastic ? words.master(i) : 0;
    const float kept = how.kahan ? compensation.get<float>(i) : 0;
    const MovedWeight to =
        visit_dtype(a.master.dtype, [&]<class T> { return kernels::moved<T>(how, w, kept, update, word); });
    a.master.set(i, to.next);
    if (how.kahan) compensation.set(i, to.compensation);
    if (a.weights.memory != a.master.memory) {
      const std::uint32_t other = how.weights == Rounding::stochastic ? words.weight(i) : 0;
      a.weights.set(
          i, visit_dtype(a.weights.dtype, [&]<class T> { return kept_in<T>(to.next, how.weights, other); }));
    }
    moves.made += update != 0;
    moves.underflowed += to.underflowed;
    moves.absorbed += to.absorbed;
  }
}

template <class Rule>
__global__ void step_rounded(Rule rule, Arenas a, Values compensation, UpdateRounding how, std::int64_t n,
                             StepPass pass) {
  StepState now;
  const bool taken = begin_pass(rule, pass, now);
  Moves moves;
  if (taken) move_rounded(rule, a, compensation, how, n, *pass.factor, now, moves);
  end_pass(pass, taken, now, moves);
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
