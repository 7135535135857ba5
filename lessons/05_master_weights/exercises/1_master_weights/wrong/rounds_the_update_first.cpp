// rejected: rounds the update
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
  if (Rule::moment_count > 0) move_moments(rule, arenas, begin, b);

  float* next = target(arenas.master, begin, moved);
  Block<float> was;
  std::copy_n(b.w, n, was.data());
  const LostUpdates lost = move_weights(rule, state, b, arenas.master.dtype, next);
  Block<float> updates;
  for (std::int64_t i = 0; i < n; ++i) updates[static_cast<std::size_t>(i)] = update_of(rule, state, b, i);
  round_to(arenas.weights.dtype, updates.data(), n);
  for (std::int64_t i = 0; i < n; ++i)
    next[i] = was[static_cast<std::size_t>(i)] - updates[static_cast<std::size_t>(i)];
  round_to(arenas.master.dtype, next, n);
  store<float>(next, arenas.master, begin, n);
  if (arenas.weights.memory != arenas.master.memory) store<float>(next, arenas.weights, begin, n);
  return {.values = lost.values, .underflowed = lost.underflowed, .absorbed = lost.absorbed};
}
