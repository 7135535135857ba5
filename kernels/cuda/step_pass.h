#pragma once

#include <kernels/cuda/last_block.h>
#include <kernels/cuda/reduce.h>
#include <kernels/cuda/values.h>

/// What all kernels that take a step have in common: how they begin and end.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// UpdateArenas inside a kernel.
struct Arenas {
  Values weights, master, gradients, moments[2];
};

/// What the updates of a thread came to.
struct Moves {
  int made = 0, underflowed = 0, absorbed = 0;

  __device__ void add_to(UpdateCounts& all) const {
    add_count(&all.values, made);
    add_count(&all.underflowed, underflowed);
    add_count(&all.absorbed, absorbed);
  }
};

/// The cells of a pass that takes a step.
struct StepPass {
  const float* factor;
  const GradientCounts* found;
  bool skip_nonfinite;
  StepState* state;
  StepOutcome* report;
  PassCounts* counts;
};

/// Each block decides by itself, from what no block changes. Returns whether the step is taken; `now` is the state in it.
template <class Rule>
__device__ bool begin_pass(const Rule& rule, const StepPass& pass, StepState& now) {
  __shared__ bool taken;
  __shared__ float correction1, correction2;
  now = *pass.state;
  if (threadIdx.x == 0) {  // its powers are computed in double
    StepOutcome outcome;
    kernels::begin_step(rule, *pass.found, pass.skip_nonfinite, now, outcome);
    taken = outcome.taken;
    correction1 = now.correction1, correction2 = now.correction2;
  }
  __syncthreads();
  now.correction1 = correction1, now.correction2 = correction2;
  if (taken && threadIdx.x != 0) ++now.steps;  // the first thread has counted it
  return taken;
}

/// The last block writes what begin_pass() found in its first thread, and what all blocks counted.
__device__ inline void end_pass(const StepPass& pass, bool taken, const StepState& now, const Moves& moves) {
  if (taken) moves.add_to(pass.counts->updates);
  if (!is_last_block(&pass.counts->blocks, gridDim.x) || threadIdx.x != 0) return;
  *pass.state = now;
  *pass.report = {.taken = taken, .updates = pass.counts->updates};
  pass.counts->updates = {};
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
