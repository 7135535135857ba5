#include <kernels/cpu/reduce.h>
#include <kernels/cpu/rounded_update.h>
#include <kernels/executors.h>
#include <kernels/formulas/clip.h>
#include <kernels/formulas/norm.h>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

/// A training step after backward, in the order of the step: unscale looks at the gradients, clip makes their factor
/// smaller, take_step decides and moves the weights, update_scale moves S. cuda/unscale.cuh and cuda/step.cuh have the
/// same functions.
namespace tinymp::kernels::cpu {
namespace {

// unscale: counts non-finite, zero and subnormal gradients, and changes none.
// ----------------------------------------------------------------------------------------------------

constexpr std::int64_t scan_length = 8 * block_size;  ///< values that are counted at a time

/// Classifies magnitudes by their bits. Without the sign, the bits of a format order like unsigned integers,
/// and the highest bit of a difference tells which is larger. The counts are as wide as the values, but at
/// least 16 bits wide, so a register holds many of them and none overflows.
template <class T>
GradientCounts scan_bits(const T* values, std::int64_t n) {
  using Bits = BitsOf<T>;
  using Count = std::conditional_t<sizeof(Bits) == 1, std::uint16_t, Bits>;
  static_assert(scan_length <= std::numeric_limits<Count>::max());
  constexpr Bits smallest_normal = smallest_normal_bits<T>, infinity = nonfinite_bits<T>;
  GradientCounts result{.values = n, .nonfinite = 0, .zeros = 0, .subnormals = 0};
  on_best_isa([=, out = &result] {
    constexpr int top = 8 * sizeof(Bits) - 1;
    Count finite = 0, zeros = 0, small = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      Bits bits;  // not by bit_cast: of a class, g++ makes one at a time
      std::memcpy(&bits, values + i, sizeof bits);
      const Bits magnitude = bits & static_cast<Bits>(static_cast<Bits>(-1) >> 1);
      finite = static_cast<Count>(finite + (static_cast<Bits>(magnitude - infinity) >> top));
      zeros = static_cast<Count>(zeros + (static_cast<Bits>(magnitude - 1) >> top));
      small = static_cast<Count>(small + (static_cast<Bits>(magnitude - smallest_normal) >> top));
    }
    out->nonfinite = n - static_cast<std::int64_t>(finite);
    out->zeros = static_cast<std::int64_t>(zeros);
    out->subnormals = static_cast<std::int64_t>(small) - out->zeros;
  });
  return result;
}

GradientCounts scan(const View& gradients) {
  const auto piece = [&](std::int64_t begin, std::int64_t n) {
    return visit_dtype(gradients.dtype, [&]<class T> { return scan_bits(gradients.data<T>() + begin, n); });
  };
  return sum_of_chunks<GradientCounts>(gradients.size(), piece, scan_length);
}

}  // namespace

// <exercise unscale_then_clip>
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  *found.memory = scan(gradients);
  *factor.memory = true_factor(*scale.memory);
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  const double squares = sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> in;
    return lane_sum<double>(n, [values = load(x, begin, n, in), by = *factor.memory](std::int64_t i) {
      const double v = static_cast<double>(values[i] * by);
      return v * v;
    });
  });
  *norm.data<float>() = clip_factor(squares, max_norm, *factor.memory);
}
// </exercise unscale_then_clip>

void unscale_and_clip(const View& gradients, Cell<const ScaleState> scale, float max_norm,
                      Cell<GradientCounts> found, Cell<float> factor, const View& norm, Cell<PassCounts>) {
  unscale(gradients, scale, found, factor);
  clip(gradients, max_norm, factor, norm);
}

namespace {

// take_step: takes a block of the arenas at a time, widens it to FP32, moves it by the rule and rounds it to its
// format. FP32 arenas are read and written in place.
// ----------------------------------------------------------------------------------------------------

/// One block, as FP32.
struct UpdateBlock {
  std::int64_t n;
  const float* w;
  const float* g;     ///< as in the arena
  float factor;       ///< g times this is the true gradient
  float* moments[2];  ///< one for each moment of the rule
};

/// Moves the optimizer's moments and rounds them to their own format. The update uses the rounded ones.
template <class Rule>
void move_moments(const Rule& rule, const UpdateArenas& arenas, std::int64_t begin, const UpdateBlock& b) {
  for_each_value<float>(b.n, [=](std::int64_t i) {
    float m[2] = {};
    for (int k = 0; k < Rule::moment_count; ++k) m[k] = b.moments[k][i];
    rule.moments(b.w[i], b.g[i] * b.factor, m);
    for (int k = 0; k < Rule::moment_count; ++k) b.moments[k][i] = m[k];
  });
  for (int k = 0; k < Rule::moment_count; ++k) {
    round_to(arenas.moments[k].dtype, b.moments[k], b.n);
    store<float>(b.moments[k], arenas.moments[k], begin, b.n);
  }
}

/// The rule's update of weight i in FP32, not rounded further.
template <class Rule>
float update_of(const Rule& rule, const StepState& state, const UpdateBlock& b, std::int64_t i) {
  float m[2] = {};
  for (int k = 0; k < Rule::moment_count; ++k) m[k] = b.moments[k][i];
  return rule.update(b.w[i], b.g[i] * b.factor, m, state);
}

/// Counts updates that change no weight. 32-bit counts without branches, so that the loop is vectorised.
struct LostUpdates {
  std::int32_t values = 0, underflowed = 0, absorbed = 0;

  void count(float exact, float rounded, float was, float next) {
    const std::int32_t moves = exact != 0, arrives = rounded != 0, stays = next == was;
    values += moves;
    underflowed += moves & (1 - arrives);
    absorbed += arrives & stays;
  }
};

/// A master in FP32: nothing is rounded before the end, and one loop does all. `next` may be the weights.
template <class Rule>
LostUpdates move_weights(const Rule& rule, const StepState& state, const UpdateBlock& b, float* next) {
  LostUpdates lost;
  on_best_isa([=, out = &lost] {
    LostUpdates found;
    TINYMP_INDEPENDENT_ROUNDS
    for (std::int64_t i = 0; i < b.n; ++i) {
      const float was = b.w[i], update = update_of(rule, state, b, i), moved = was - update;
      found.count(update, update, was, moved);
      next[i] = moved;
    }
    *out = found;
  });
  return lost;
}

/// A narrow master: the update is rounded to its format, and so is the difference of weight and update.
LostUpdates move_rounded(const UpdateBlock& b, const float* exact, DType format, float* next) {
  Block<float> updates;
  float* rounded = updates.data();
  std::copy_n(exact, b.n, rounded);
  round_to(format, rounded, b.n);
  for_each_value<float>(b.n, [=](std::int64_t i) { next[i] = b.w[i] - rounded[i]; });
  round_to(format, next, b.n);
  LostUpdates lost;
  on_best_isa([=, out = &lost] {
    LostUpdates found;
    for (std::int64_t i = 0; i < b.n; ++i) found.count(exact[i], rounded[i], b.w[i], next[i]);
    *out = found;
  });
  return lost;
}

template <class Rule>
LostUpdates move_weights(const Rule& rule, const StepState& state, const UpdateBlock& b, DType format,
                         float* next) {
  if (format == DType::f32) return move_weights(rule, state, b, next);
  Block<float> updates;
  for_each_value<float>(
      b.n, [=, exact = updates.data()](std::int64_t i) { exact[i] = update_of(rule, state, b, i); });
  return move_rounded(b, updates.data(), format, next);
}

// <exercise master_weights>
template <class Rule>
UpdateCounts update_block(const Rule& rule, const StepState& state, const UpdateArenas& arenas, float factor,
                          std::int64_t begin, std::int64_t n) {
  Block<float> weights, gradients, moments[2], moved;
  UpdateBlock b{
      n, load(arenas.master, begin, n, weights), load(arenas.gradients, begin, n, gradients), factor, {}};
  for (int k = 0; k < Rule::moment_count; ++k) {
    load(arenas.moments[k], begin, n, moments[k]);
    b.moments[k] = target(arenas.moments[k], begin, moments[k]);
  }
  move_moments(rule, arenas, begin, b);

  float* next = target(arenas.master, begin, moved);
  const LostUpdates lost = move_weights(rule, state, b, arenas.master.dtype, next);
  store<float>(next, arenas.master, begin, n);
  store<float>(next, arenas.weights, begin, n);
  return {.values = lost.values, .underflowed = lost.underflowed, .absorbed = lost.absorbed};
}
// </exercise master_weights>

/// update_block() for a rounding that is not plain.
template <class Rule>
UpdateCounts update_rounded(const Rule& rule, const StepState& state, const UpdateArenas& arenas,
                            float factor, std::int64_t begin, std::int64_t n) {
  Block<float> weights, gradients, moments[2], kept, moved, narrow, updates;
  UpdateBlock b{
      n, load(arenas.master, begin, n, weights), load(arenas.gradients, begin, n, gradients), factor, {}};
  for (int k = 0; k < Rule::moment_count; ++k) {
    load(arenas.moments[k], begin, n, moments[k]);
    b.moments[k] = target(arenas.moments[k], begin, moments[k]);
  }
  move_moments(rule, arenas, begin, b);
  for_each_value<float>(
      n, [=, exact = updates.data()](std::int64_t i) { exact[i] = update_of(rule, state, b, i); });

  const bool has_master = arenas.weights.memory != arenas.master.memory, kahan = arenas.rounding.kahan;
  if (kahan) load(arenas.compensation, begin, n, kept);
  const RoundedBlock block{n,
                           arenas.first + begin,
                           b.w,
                           updates.data(),
                           kahan ? target(arenas.compensation, begin, kept) : nullptr,
                           target(arenas.master, begin, moved),
                           has_master ? target(arenas.weights, begin, narrow) : nullptr};
  const UpdateWords words(arenas.rounding, state.steps);
  const UpdateCounts lost =
      move_block(arenas.rounding, words, arenas.master.dtype, arenas.weights.dtype, block);
  store<float>(block.next, arenas.master, begin, n);
  if (kahan) store<float>(block.kept, arenas.compensation, begin, n);
  if (has_master) store<float>(block.weights, arenas.weights, begin, n);
  return lost;
}

}  // namespace

void take_step(const UpdateRule& rule, const UpdateArenas& arenas, Cell<const float> factor,
               Cell<const GradientCounts> found, bool skip_nonfinite, Cell<StepState> state,
               Cell<StepOutcome> report, Cell<PassCounts>) {
  constexpr std::int64_t length = 8 * block_size;  // counts may be added in any order, so pieces are long
  std::visit(
      [&](const auto& r) {
        kernels::begin_step(r, *found.memory, skip_nonfinite, *state.memory, *report.memory);
        if (!report.memory->taken) return;
        report.memory->updates = sum_of_chunks<UpdateCounts>(
            arenas.master.size(),
            [&](std::int64_t begin, std::int64_t n) {
              UpdateCounts lost;
              const bool plain = arenas.rounding.is_plain();
              for (std::int64_t i = 0; i < n; i += block_size) {
                const std::int64_t count = std::min(block_size, n - i);
                lost += plain ? update_block(r, *state.memory, arenas, *factor.memory, begin + i, count)
                              : update_rounded(r, *state.memory, arenas, *factor.memory, begin + i, count);
              }
              return lost;
            },
            length);
      },
      rule);
}

void follow(const View& batch, double factor, double momentum, Cell<const StepOutcome> report,
            const View& running) {
  if (!report.memory->taken) return;
  with_compute_type(running.dtype, [&]<class C> {
    const RunningAverage<C> average(momentum, factor);
    const C* newest = batch.data<C>();
    C* kept = running.data<C>();
    for (std::int64_t i = 0; i < running.size(); ++i) kept[i] = average(kept[i], newest[i]);
  });
}

void update_scale(const LossScaling& policy, Cell<const GradientCounts> found, bool last,
                  Cell<ScaleState> state) {
  std::visit([&](const auto& p) { take_check(p, found.memory->nonfinite > 0, last, *state.memory); }, policy);
}

void end_step(const LossScaling& policy, Cell<const GradientCounts> found, Cell<const StepOutcome> outcome,
              const View& loss, const View& norm, Cell<ScaleState> state, Cell<StepRecords> records) {
  const auto number = [](const View& x) {
    return visit_dtype(x.dtype, [&]<class T> { return converted<double>(*x.data<T>()); });
  };
  StepRecords& all = *records.memory;
  all.at[all.steps++ % StepRecords::kept] = {number(loss), static_cast<double>(state.memory->scale),
                                             norm.memory == nullptr ? 0 : number(norm), *found.memory,
                                             *outcome.memory};
  if (moves(policy)) update_scale(policy, found, true, state);
}

void count_flushed(const View& x, const View& shadow, Cell<FlushCounts> counts) {
  *counts.memory += sum_of_chunks<FlushCounts>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> left, right;
    const float* a = load(x, begin, n, left);
    const float* b = load(shadow, begin, n, right);
    FlushCounts found;
    on_best_isa([=, out = &found] {
      std::int32_t values_found = 0, flushed = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t counts = b[i] != 0, vanished = a[i] == 0;
        values_found += counts;
        flushed += counts & vanished;
      }
      *out = {.values = values_found, .flushed = flushed};
    });
    return found;
  });
}

}  // namespace tinymp::kernels::cpu
