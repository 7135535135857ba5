#pragma once

#include <kernels/cuda/packs.h>
#include <kernels/cuda/rounded_step.h>
#include <kernels/formulas/norm.h>

/// A training step after unscale.cuh. What one thread decides - a scale, a flag, a count of steps - it leaves in
/// a Cell for the kernels behind it: the CPU launches them all without knowing what was decided.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// Returns the next w, and leaves the next moments in m. All are rounded to the formats in which they are kept.
template <class Rule, class ToMaster, class ToMoment>
__device__ float next_weight(const Rule& rule, const StepState& state, float w, float g, float* m,
                             const ToMaster& to_master, const ToMoment& to_moment, Moves& moves) {
  rule.moments(w, g, m);
  TINYMP_UNROLL
  for (int k = 0; k < Rule::moment_count; ++k) m[k] = to_moment(k, m[k]);
  const float exact = rule.update(w, g, m, state);
  const float rounded = to_master(exact), next = to_master(w - rounded);
  moves.made += exact != 0;
  moves.underflowed += exact != 0 && rounded == 0;
  moves.absorbed += rounded != 0 && next == w;
  return next;
}

/// For tensors of any formats.
template <class Rule>
__device__ void move_weights(const Rule& rule, const Arenas& a, std::int64_t n, float factor,
                             const StepState& now, Moves& moves) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    float m[2] = {};
    for (int k = 0; k < Rule::moment_count; ++k) m[k] = a.moments[k].get<float>(i);
    const float next = next_weight(
        rule, now, a.master.get<float>(i), a.gradients.get<float>(i) * factor, m,
        [&](float x) { return a.master.rounded(x); }, [&](int k, float x) { return a.moments[k].rounded(x); },
        moves);
    for (int k = 0; k < Rule::moment_count; ++k) a.moments[k].set(i, m[k]);
    a.master.set(i, next);
    if (a.weights.memory != a.master.memory) a.weights.set(i, next);
  }
}

template <class Rule>
__global__ void step_any(Rule rule, Arenas a, std::int64_t n, StepPass pass) {
  StepState now;
  const bool taken = begin_pass(rule, pass, now);
  Moves moves;
  if (taken) move_weights(rule, a, n, *pass.factor, now, moves);
  end_pass(pass, taken, now, moves);
}

/// For masters and moments in FP32, and weights and gradients in T: the recipes that train. A thread moves four
/// weights, since it keeps up to four numbers for each.
inline constexpr int weights_moved = 4;
template <class T, class Rule>
__device__ void move_packs(const Rule& rule, const Arenas& a, const Packs& packs, float factor,
                           const StepState& now, Moves& moves) {
  constexpr int count = weights_moved, moments = Rule::moment_count;
  float* const master = a.master.as<float>();
  T* const weights = a.weights.as<T>();
  const auto same = [](float x) { return x; };
  const auto same_moment = [](int, float x) { return x; };
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<T, count> g = load_pack<count>(a.gradients.as<T>(), p);
        Pack<float, count> w = load_pack<count>(master, p), kept[2];
        TINYMP_UNROLL
        for (int k = 0; k < moments; ++k) kept[k] = load_pack<count>(a.moments[k].as<float>(), p);
        Pack<T, count> narrow;
        TINYMP_UNROLL
        for (int i = 0; i < count; ++i) {
          float m[2] = {kept[0].at[i], kept[1].at[i]};
          w.at[i] = next_weight(rule, now, w.at[i], device_converted<float>(g.at[i]) * factor, m, same,
                                same_moment, moves);
          kept[0].at[i] = m[0], kept[1].at[i] = m[1];
          narrow.at[i] = device_converted<T>(w.at[i]);
        }
        TINYMP_UNROLL
        for (int k = 0; k < moments; ++k) store_pack(a.moments[k].as<float>(), p, kept[k]);
        store_pack(master, p, w);
        if (a.weights.memory != a.master.memory) store_pack(weights, p, narrow);
      },
      [&](std::int64_t i) {
        float m[2] = {};
        for (int k = 0; k < moments; ++k) m[k] = a.moments[k].as<float>()[i];
        const float next =
            next_weight(rule, now, master[i], device_converted<float>(a.gradients.as<T>()[i]) * factor, m,
                        same, same_moment, moves);
        for (int k = 0; k < moments; ++k) a.moments[k].as<float>()[i] = m[k];
        master[i] = next;
        if (a.weights.memory != a.master.memory) weights[i] = device_converted<T>(next);
      });
}

template <class Rule, class T>
__global__ void step_packs(Rule rule, Arenas a, Packs packs, StepPass pass) {
  StepState now;
  const bool taken = begin_pass(rule, pass, now);
  Moves moves;
  if (taken) move_packs<T>(rule, a, packs, *pass.factor, now, moves);
  end_pass(pass, taken, now, moves);
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

/// What a step came to.
struct StepResults {
  const GradientCounts* found;
  const StepOutcome* outcome;
  Values loss, norm;
};

template <class Policy>
__global__ void record_and_judge(Policy policy, bool moves, StepResults step, ScaleState* state,
                                 StepRecords* records) {
  records->at[records->steps++ % StepRecords::kept] = {
      step.loss.get<double>(0), static_cast<double>(state->scale),
      step.norm.memory == nullptr ? 0 : step.norm.get<double>(0), *step.found, *step.outcome};
  if (moves) take_check(policy, step.found->nonfinite > 0, true, *state);
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

/// What step_packs() takes.
bool are_usual(const UpdateArenas& arenas, int moments) {
  bool fp32 = arenas.master.dtype == DType::f32;
  for (int k = 0; k < moments; ++k) fp32 &= arenas.moments[k].dtype == DType::f32;
  return fp32 && arenas.weights.dtype == arenas.gradients.dtype && arenas.gradients.dtype != DType::f64;
}

}  // namespace

void take_step(const UpdateRule& rule, const UpdateArenas& arenas, Cell<const float> factor,
               Cell<const GradientCounts> found, bool skip_nonfinite, Cell<StepState> state,
               Cell<StepOutcome> report, Cell<PassCounts> counts) {
  const std::int64_t n = arenas.master.size();
  const Arenas a{values(arenas.weights),
                 values(arenas.master),
                 values(arenas.gradients),
                 {values(arenas.moments[0]), values(arenas.moments[1])}};
  const Packs packs = packs_of(n,
                               {arenas.weights.memory, arenas.master.memory, arenas.gradients.memory,
                                arenas.moments[0].memory, arenas.moments[1].memory},
                               weights_moved);
  const StepPass pass{factor.memory, found.memory,  skip_nonfinite,
                      state.memory,  report.memory, counts.memory};
  const unsigned blocks = std::max(1u, blocks_for(packs));  // one decides even where nothing moves
  std::visit(
      [&]<class Rule>(const Rule& r) {
        if (!arenas.rounding.is_plain()) {
          launch<step_rounded<Rule>>(std::max(1u, blocks_for(n, values_counted)), block_threads, 0, stream(),
                                     r, a, values(arenas.compensation), arenas.rounding, n, pass);
          return;
        }
        if (!are_usual(arenas, Rule::moment_count)) {
          launch<step_any<Rule>>(std::max(1u, blocks_for(n, values_counted)), block_threads, 0, stream(), r,
                                 a, n, pass);
          return;
        }
        visit_dtype(arenas.gradients.dtype, [&]<class T> {
          if constexpr (!std::is_same_v<T, double>)
            launch<step_packs<Rule, T>>(blocks, block_threads, 0, stream(), r, a, packs, pass);
        });
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

void end_step(const LossScaling& policy, Cell<const GradientCounts> found, Cell<const StepOutcome> outcome,
              const View& loss, const View& norm, Cell<ScaleState> state, Cell<StepRecords> records) {
  const StepResults step{found.memory, outcome.memory, values(loss), values(norm)};
  std::visit(
      [&]<class Policy>(const Policy& p) {
        launch<record_and_judge<Policy>>(1, 1, 0, stream(), p, moves(policy), step, state.memory,
                                         records.memory);
      },
      policy);
}

void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts) {
  if (x.size() == 0) return;
  launch<count_zeros>(blocks_for(x.size(), values_counted), block_threads, 0, stream(), values(x),
                      values(shadow), x.size(), counts.memory);
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
