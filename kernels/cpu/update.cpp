#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>

/// The optimizers' pass: a block of the arenas at a time, widened to FP32, moved by the rule, rounded to
/// where it is kept.
namespace tinymp::kernels::cpu {
namespace {

/// True gradients: what the arena holds, times the factor that unscaling and clipping left.
void true_gradients(const View& gradients, float factor, std::int64_t begin, std::int64_t n,
                    Block<float>& out) {
  const float* g = load(gradients, begin, n, out);
  for (std::int64_t i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = g[i] * factor;
}

/// Moves the optimizer's moments and rounds them to the format that they are kept in: what the update sees.
template <class Rule>
void move_moments(Rule rule, const UpdateArenas& arenas, std::int64_t begin, std::int64_t n, const float* w,
                  const Block<float>& g, Block<float> (&moments)[2]) {
  const int count = rule.moment_count();
  for (int m = 0; m < count; ++m) {
    const float* kept = load(arenas.moments[m], begin, n, moments[m]);
    if (kept != moments[m].data()) std::copy(kept, kept + n, moments[m].begin());
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    float state[2] = {count > 0 ? moments[0][i] : 0, count > 1 ? moments[1][i] : 0};
    rule.moments(w[i], g[i], state);
    if (count > 0) moments[0][i] = state[0];
    if (count > 1) moments[1][i] = state[1];
  }
  for (int m = 0; m < count; ++m) {
    round_to(arenas.moments[m].dtype, moments[m].data(), n);
    store<float>(moments[m].data(), arenas.moments[m], begin, n);
  }
}

/// Updates that move nothing. 32-bit counts and no jumps, so that the loop is vectorised.
UpdateCounts count_lost(const Block<float>& exact, const Block<float>& rounded, const float* w,
                        const Block<float>& next, std::int64_t n) {
  std::int32_t values = 0, underflowed = 0, absorbed = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const std::int32_t moves = exact[i] != 0, arrives = rounded[i] != 0, stays = next[i] == w[i];
    values += moves;
    underflowed += moves & (1 - arrives);
    absorbed += arrives & stays;
  }
  return {.values = values, .underflowed = underflowed, .absorbed = absorbed};
}

template <class Rule>
UpdateCounts update_block(Rule rule, StepState state, const UpdateArenas& arenas, float factor,
                          std::int64_t begin, std::int64_t n) {
  Block<float> g, weight_block, exact, rounded, next, moments[2];
  const float* w = load(arenas.master, begin, n, weight_block);
  true_gradients(arenas.gradients, factor, begin, n, g);
  move_moments(rule, arenas, begin, n, w, g, moments);

  const int count = rule.moment_count();
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const float m[2] = {count > 0 ? moments[0][i] : 0, count > 1 ? moments[1][i] : 0};
    exact[i] = rule.update(w[i], g[i], m, state);
  }
  std::copy_n(exact.begin(), n, rounded.begin());
  round_to(arenas.master.dtype, rounded.data(), n);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) next[i] = w[i] - rounded[i];
  round_to(arenas.master.dtype, next.data(), n);

  const UpdateCounts lost = count_lost(exact, rounded, w, next, n);
  store<float>(next.data(), arenas.master, begin, n);
  if (arenas.weights.memory != arenas.master.memory) store<float>(next.data(), arenas.weights, begin, n);
  return lost;
}

}  // namespace

void begin_step(const UpdateRule& rule, Cell<const GradientScan> found, bool skip_nonfinite,
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
  std::visit(
      [&](const auto& r) {
        report.memory->updates =
            sum_of_chunks<UpdateCounts>(arenas.master.size(), [&](std::int64_t begin, std::int64_t n) {
              return update_block(r, *state.memory, arenas, *factor.memory, begin, n);
            });
      },
      rule);
}

}  // namespace tinymp::kernels::cpu
