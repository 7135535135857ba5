#pragma once

#include <kernels/cuda/reduce.h>
#include <kernels/formulas/clip.h>
#include <kernels/formulas/norm.h>

/// A training step after backward. What one thread decides - a scale, a flag, a count of steps - it leaves in
/// a Cell for the kernels behind it: the CPU launches them all without knowing what was decided.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

__device__ inline double smallest_normal(DType dtype) {
  return visit_dtype(dtype, [&]<class T> { return converted<double>(std::numeric_limits<T>::min()); });
}

__global__ void begin_unscale(const ScaleState* scale, std::int64_t size, GradientCounts* found,
                              float* factor) {
  *found = {};
  found->values = size;
  *factor = true_factor(*scale);
}

template <class C>
__global__ void scan(Values x, std::int64_t n, GradientCounts* found) {
  const C normal = static_cast<C>(smallest_normal(x.dtype));
  std::int64_t nonfinite = 0, zeros = 0, subnormals = 0;
  for (std::int64_t i = first(); i < n; i += stride()) {
    const C v = x.get<C>(i), magnitude = v < 0 ? -v : v;
    nonfinite += v - v != 0;
    zeros += magnitude == 0;
    subnormals += magnitude > 0 && magnitude < normal;
  }
  add_count(&found->nonfinite, nonfinite);
  add_count(&found->zeros, zeros);
  add_count(&found->subnormals, subnormals);
}

struct TrueSquare {
  Values x;
  const float* factor;
  __device__ double operator()(std::int64_t i) const {
    const double v = static_cast<double>(x.get<float>(i) * *factor);
    return v * v;
  }
};

struct Clip {
  float max_norm;
  float* factor;
  Values norm;
  __device__ void operator()(double squares) const { norm.set(0, clip_factor(squares, max_norm, *factor)); }
};

template <class Rule>
__global__ void decide(Rule rule, const GradientCounts* found, bool skip_nonfinite, StepState* state,
                       StepOutcome* report) {
  kernels::begin_step(rule, *found, skip_nonfinite, *state, *report);
}

/// UpdateArenas inside a kernel.
struct Arenas {
  Values weights, master, gradients, moments[2];
};

template <class Rule>
__global__ void move_weights(Rule rule, Arenas a, std::int64_t n, const float* factor, const StepState* state,
                             StepOutcome* report) {
  if (!report->taken) return;
  constexpr int moments = Rule::moment_count;
  std::int64_t moves = 0, underflowed = 0, absorbed = 0;
  for (std::int64_t i = first(); i < n; i += stride()) {
    const float w = a.master.get<float>(i), g = a.gradients.get<float>(i) * *factor;
    float m[2] = {};
    for (int k = 0; k < moments; ++k) m[k] = a.moments[k].get<float>(i);
    rule.moments(w, g, m);
    for (int k = 0; k < moments; ++k) {
      a.moments[k].set(i, m[k]);
      m[k] = a.moments[k].rounded(m[k]);
    }
    const float exact = rule.update(w, g, m, *state);
    const float rounded = a.master.rounded(exact), next = a.master.rounded(w - rounded);
    a.master.set(i, next);
    if (a.weights.memory != a.master.memory) a.weights.set(i, next);

    moves += exact != 0;
    underflowed += exact != 0 && rounded == 0;
    absorbed += rounded != 0 && next == w;
  }
  add_count(&report->updates.values, moves);
  add_count(&report->updates.underflowed, underflowed);
  add_count(&report->updates.absorbed, absorbed);
}

template <class C>
__global__ void follow_batch(const C* batch, RunningAverage<C> average, const StepOutcome* report, C* running,
                             std::int64_t n) {
  if (!report->taken) return;
  for (std::int64_t i = first(); i < n; i += stride()) running[i] = average(running[i], batch[i]);
}

template <class Policy>
__global__ void judge(Policy policy, const GradientCounts* found, bool last, ScaleState* state) {
  take_check(policy, found->nonfinite > 0, last, *state);
}

__global__ void count_zeros(Values x, Values shadow, std::int64_t n, FlushCounts* counts) {
  std::int64_t nonzero = 0, flushed = 0;
  for (std::int64_t i = first(); i < n; i += stride()) {
    const bool counts_here = shadow.get<float>(i) != 0;
    nonzero += counts_here;
    flushed += counts_here && x.get<float>(i) == 0;
  }
  add_count(&counts->values, nonzero);
  add_count(&counts->flushed, flushed);
}

}  // namespace

void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  const std::int64_t n = gradients.size();
  launch<begin_unscale>(1, 1, 0, stream(), scale.memory, n, found.memory, factor.memory);
  if (n == 0) return;
  with_compute_type(gradients.dtype, [&]<class C> {
    launch<scan<C>>(blocks_for(n, values_counted), block_threads, 0, stream(), values(gradients), n,
                    found.memory);
  });
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  reduce<double>(TrueSquare{values(x), factor.memory}, x.size(), Clip{max_norm, factor.memory, values(norm)});
}

void decide_step(const UpdateRule& rule, Cell<const GradientCounts> found, bool skip_nonfinite,
                 Cell<StepState> state, Cell<StepOutcome> report) {
  std::visit(
      [&]<class Rule>(const Rule& r) {
        launch<decide<Rule>>(1, 1, 0, stream(), r, found.memory, skip_nonfinite, state.memory, report.memory);
      },
      rule);
}

void update(const UpdateRule& rule, const UpdateArenas& arenas, Cell<const float> factor,
            Cell<const StepState> state, Cell<StepOutcome> report) {
  const std::int64_t n = arenas.master.size();
  if (n == 0) return;
  const Arenas a{values(arenas.weights),
                 values(arenas.master),
                 values(arenas.gradients),
                 {values(arenas.moments[0]), values(arenas.moments[1])}};
  std::visit(
      [&]<class Rule>(const Rule& r) {
        launch<move_weights<Rule>>(blocks_for(n, values_counted), block_threads, 0, stream(), r, a, n,
                                   factor.memory, state.memory, report.memory);
      },
      rule);
}

void follow(const View& batch, double factor, double momentum, Cell<const StepOutcome> report,
            const View& running) {
  if (running.size() == 0) return;
  with_compute_type(running.dtype, [&]<class C> {
    launch<follow_batch<C>>(blocks_for(running.size()), block_threads, 0, stream(), batch.data<C>(),
                            RunningAverage<C>(momentum, factor), report.memory, running.data<C>(),
                            running.size());
  });
}

void update_scale(const LossScaling& policy, Cell<const GradientCounts> found, bool last,
                  Cell<ScaleState> state) {
  std::visit(
      [&]<class Policy>(const Policy& p) {
        launch<judge<Policy>>(1, 1, 0, stream(), p, found.memory, last, state.memory);
      },
      policy);
}

void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts) {
  if (x.size() == 0) return;
  launch<count_zeros>(blocks_for(x.size(), values_counted), block_threads, 0, stream(), values(x),
                      values(shadow), x.size(), counts.memory);
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
