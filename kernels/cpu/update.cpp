#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>
#include <kernels/formulas/norm.h>

/// The optimizers' pass: a block of the arenas at a time, widened to FP32, moved by the rule, rounded to
/// where it is kept. What is kept in FP32 is worked on where it lies.
namespace tinymp::kernels::cpu {
namespace {

/// One block, as FP32.
struct UpdateBlock {
  std::int64_t n;
  const float* w;
  const float* g;     ///< as the arena holds them:
  float factor;       ///< times this they are the true gradients
  float* moments[2];  ///< as many as the rule has
};

/// Moves the optimizer's moments and rounds them to the format that they are kept in: what the update sees.
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

/// The rule's update of weight i, exactly as FP32 has it.
template <class Rule>
float update_of(const Rule& rule, const StepState& state, const UpdateBlock& b, std::int64_t i) {
  float m[2] = {};
  for (int k = 0; k < Rule::moment_count; ++k) m[k] = b.moments[k][i];
  return rule.update(b.w[i], b.g[i] * b.factor, m, state);
}

/// Counts updates that move nothing. 32 bits and no jumps, so that the loop around it is vectorised.
struct LostUpdates {
  std::int32_t values = 0, underflowed = 0, absorbed = 0;

  void look(float exact, float rounded, float was, float next) {
    const std::int32_t moves = exact != 0, arrives = rounded != 0, stays = next == was;
    values += moves;
    underflowed += moves & (1 - arrives);
    absorbed += arrives & stays;
  }
};

/// A master in FP32: nothing is rounded on the way, and one loop does it all. `next` may be the weights.
template <class Rule>
LostUpdates move_weights(const Rule& rule, const StepState& state, const UpdateBlock& b, float* next) {
  LostUpdates lost;
  on_best_isa([=, out = &lost] {
    LostUpdates found;
    TINYMP_INDEPENDENT_ROUNDS
    for (std::int64_t i = 0; i < b.n; ++i) {
      const float was = b.w[i], update = update_of(rule, state, b, i), moved = was - update;
      found.look(update, update, was, moved);
      next[i] = moved;
    }
    *out = found;
  });
  return lost;
}

/// A narrow master: the update is rounded to its format, and so is the difference.
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
    for (std::int64_t i = 0; i < b.n; ++i) found.look(exact[i], rounded[i], b.w[i], next[i]);
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

}  // namespace

void decide_step(const UpdateRule& rule, Cell<const GradientScan> found, bool skip_nonfinite,
                 Cell<StepState> state, Cell<StepReport> report) {
  std::visit(
      [&](const auto& r) {
        kernels::begin_step(r, *found.memory, skip_nonfinite, *state.memory, *report.memory);
      },
      rule);
}

void update(const UpdateRule& rule, const UpdateArenas& arenas, Cell<const float> factor,
            Cell<const StepState> state, Cell<StepReport> report) {
  if (!report.memory->taken) return;
  constexpr std::int64_t length = 8 * block_size;  // counts are added in any order: long pieces will do
  std::visit(
      [&](const auto& r) {
        report.memory->updates = sum_of_chunks<UpdateCounts>(
            arenas.master.size(),
            [&](std::int64_t begin, std::int64_t n) {
              UpdateCounts lost;
              for (std::int64_t i = 0; i < n; i += block_size)
                lost += update_block(r, *state.memory, arenas, *factor.memory, begin + i,
                                     std::min(block_size, n - i));
              return lost;
            },
            length);
      },
      rule);
}

void follow(const View& batch, double factor, double momentum, Cell<const StepReport> report,
            const View& running) {
  if (!report.memory->taken) return;
  with_compute_type(running.dtype, [&]<class C> {
    const RunningAverage<C> average(momentum, factor);
    const C* newest = batch.data<C>();
    C* kept = running.data<C>();
    for (std::int64_t i = 0; i < running.size(); ++i) kept[i] = average(kept[i], newest[i]);
  });
}

}  // namespace tinymp::kernels::cpu
