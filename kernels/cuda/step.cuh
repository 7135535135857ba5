#pragma once

#include <kernels/cuda/packs.h>
#include <kernels/cuda/reduce.h>
#include <kernels/formulas/clip.h>
#include <kernels/formulas/norm.h>

/// A training step after backward. What one thread decides - a scale, a flag, a count of steps - it leaves in
/// a Cell for the kernels behind it: the CPU launches them all without knowing what was decided.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

__global__ void begin_unscale(const ScaleState* scale, std::int64_t size, GradientCounts* found,
                              float* factor) {
  *found = {};
  found->values = size;
  *factor = true_factor(*scale);
}

/// The bits of a number without its sign are in the order of its size: nothing is converted.
template <class X>
__global__ void scan(const X* x, Packs packs, GradientCounts* found) {
  using Bits = std::conditional_t<sizeof(X) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(X) == 4, std::uint32_t, std::uint64_t>>;
  constexpr Bits all_but_sign = static_cast<Bits>(~Bits{0}) >> 1;
  constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<X>::infinity());
  constexpr Bits normal = std::bit_cast<Bits>(std::numeric_limits<X>::min());
  int nonfinite = 0, zeros = 0, below_normal = 0;
  const auto look = [&](X v) {
    const Bits size = std::bit_cast<Bits>(v) & all_but_sign;
    nonfinite += size >= infinity;
    zeros += size == 0;
    below_normal += size < normal;
  };
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<X> in = load_pack(x, p);
        TINYMP_UNROLL
        for (int k = 0; k < pack_values; ++k) look(in.at[k]);
      },
      [&](std::int64_t i) { look(x[i]); });
  add_count(&found->nonfinite, nonfinite);
  add_count(&found->zeros, zeros);
  add_count(&found->subnormals, below_normal - zeros);
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

/// What the updates of a thread came to.
struct Moves {
  int made = 0, underflowed = 0, absorbed = 0;

  __device__ void add_to(UpdateCounts& all) const {
    add_count(&all.values, made);
    add_count(&all.underflowed, underflowed);
    add_count(&all.absorbed, absorbed);
  }
};

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
__global__ void move_weights(Rule rule, Arenas a, std::int64_t n, const float* factor, const StepState* state,
                             StepOutcome* report) {
  if (!report->taken) return;
  const float true_scale = *factor;
  const StepState now = *state;
  Moves moves;
  for (std::int64_t i = first(); i < n; i += stride()) {
    float m[2] = {};
    for (int k = 0; k < Rule::moment_count; ++k) m[k] = a.moments[k].get<float>(i);
    const float next = next_weight(
        rule, now, a.master.get<float>(i), a.gradients.get<float>(i) * true_scale, m,
        [&](float x) { return a.master.rounded(x); }, [&](int k, float x) { return a.moments[k].rounded(x); },
        moves);
    for (int k = 0; k < Rule::moment_count; ++k) a.moments[k].set(i, m[k]);
    a.master.set(i, next);
    if (a.weights.memory != a.master.memory) a.weights.set(i, next);
  }
  moves.add_to(report->updates);
}

/// For masters and moments in FP32, and weights and gradients in T: the recipes that train. A thread moves four
/// weights, since it keeps up to four numbers for each.
inline constexpr int weights_moved = 4;
template <class Rule, class T>
__global__ void move_packs(Rule rule, Arenas a, Packs packs, const float* factor, const StepState* state,
                           StepOutcome* report) {
  if (!report->taken) return;
  constexpr int count = weights_moved, moments = Rule::moment_count;
  const float true_scale = *factor;
  const StepState now = *state;
  float* const master = a.master.as<float>();
  T* const weights = a.weights.as<T>();
  Moves moves;
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
          w.at[i] = next_weight(rule, now, w.at[i], device_converted<float>(g.at[i]) * true_scale, m, same,
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
            next_weight(rule, now, master[i], device_converted<float>(a.gradients.as<T>()[i]) * true_scale, m,
                        same, same_moment, moves);
        for (int k = 0; k < moments; ++k) a.moments[k].as<float>()[i] = m[k];
        master[i] = next;
        if (a.weights.memory != a.master.memory) weights[i] = device_converted<T>(next);
      });
  moves.add_to(report->updates);
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

/// What move_packs() takes.
bool are_usual(const UpdateArenas& arenas, int moments) {
  bool fp32 = arenas.master.dtype == DType::f32;
  for (int k = 0; k < moments; ++k) fp32 &= arenas.moments[k].dtype == DType::f32;
  return fp32 && arenas.weights.dtype == arenas.gradients.dtype && arenas.gradients.dtype != DType::f64;
}

__global__ void write_record(Values loss, Values scale, Values norm, const GradientCounts* found,
                             const StepOutcome* outcome, StepRecord* record) {
  *record = {loss.get<double>(0), scale.get<double>(0), norm.memory == nullptr ? 0 : norm.get<double>(0),
             *found, *outcome};
}

}  // namespace

void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  const std::int64_t n = gradients.size();
  launch<begin_unscale>(1, 1, 0, stream(), scale.memory, n, found.memory, factor.memory);
  if (n == 0) return;
  visit_dtype(gradients.dtype, [&]<class T> {
    const Packs packs = packs_of(n, {gradients.memory});
    launch<scan<T>>(blocks_for(packs), block_threads, 0, stream(), gradients.data<T>(), packs, found.memory);
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
  const Packs packs = packs_of(n,
                               {arenas.weights.memory, arenas.master.memory, arenas.gradients.memory,
                                arenas.moments[0].memory, arenas.moments[1].memory},
                               weights_moved);
  std::visit(
      [&]<class Rule>(const Rule& r) {
        if (!are_usual(arenas, Rule::moment_count)) {
          launch<move_weights<Rule>>(blocks_for(n, values_counted), block_threads, 0, stream(), r, a, n,
                                     factor.memory, state.memory, report.memory);
          return;
        }
        visit_dtype(arenas.gradients.dtype, [&]<class T> {
          if constexpr (!std::is_same_v<T, double>)
            launch<move_packs<Rule, T>>(blocks_for(packs), block_threads, 0, stream(), r, a, packs,
                                        factor.memory, state.memory, report.memory);
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

void record_step(const View& loss, const View& scale, const View& norm, Cell<const GradientCounts> found,
                 Cell<const StepOutcome> outcome, Cell<StepRecord> record) {
  launch<write_record>(1, 1, 0, stream(), values(loss), values(scale), values(norm), found.memory,
                       outcome.memory, record.memory);
}

void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts) {
  if (x.size() == 0) return;
  launch<count_zeros>(blocks_for(x.size(), values_counted), block_threads, 0, stream(), values(x),
                      values(shadow), x.size(), counts.memory);
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
