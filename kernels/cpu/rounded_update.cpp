#include <kernels/cpu/block.h>
#include <kernels/cpu/rounded_update.h>
#include <tinymp/numeric/drawn_code.h>
#include <tinymp/numeric/dtype.h>

/// rounded_update.h of the formulas, value by value, is the definition. These loops have its bits, many values at a time.
namespace tinymp::kernels::cpu {
namespace {

/// x as numbers of T, each rounded toward zero or stochastically with word(i).
template <class T, bool stochastic, class Word>
void draw(float* x, std::int64_t n, const Word& word) {
  using Layout = typename tinymp::detail::LayoutOf<T>::type;
  std::array<T, block_size> codes;
  on_best_isa([=, to = codes.data()] {
    TINYMP_INDEPENDENT_ROUNDS
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint32_t random = stochastic ? word(i) : 0;
      to[i] = T::from_bits(tinymp::detail::drawn_code<Layout, stochastic>(x[i], random, false));
    }
  });
  const auto count = static_cast<std::size_t>(n);
  convert(std::span<const T>(codes.data(), count), std::span<float>(x, count));
}

/// kept_in() for a block. Formats of 32 bits and more hold every x.
template <class Word>
void keep_in(DType format, Rounding mode, float* x, std::int64_t n, const Word& word) {
  if (mode == Rounding::nearest_even) return round_to(format, x, n);
  visit_dtype(format, [&]<class T> {
    if constexpr (sizeof(T) == 2) {
      if (mode == Rounding::stochastic) return draw<T, true>(x, n, word);
      expect(mode == Rounding::toward_zero,
             "an update rounds to nearest even, toward zero or stochastically");
      draw<T, false>(x, n, word);
    }
  });
}

/// Counts as moved() does: what became of the updates.
template <class Lost>
UpdateCounts count_lost(const RoundedBlock& b, const Lost& lost) {
  UpdateCounts counts;
  on_best_isa([=, n = b.n, updates = b.updates, out = &counts] {
    std::int32_t moves = 0, underflowed = 0, absorbed = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int32_t has_update = updates[i] != 0;
      const auto [flushed, stayed] = lost(i);
      moves += has_update;
      underflowed += has_update & flushed;
      absorbed += has_update & stayed;
    }
    *out = {.values = moves, .underflowed = underflowed, .absorbed = absorbed};
  });
  return counts;
}

struct Lost {
  std::int32_t flushed, stayed;
};

/// moved_kahan(): each of its four roundings is a pass.
UpdateCounts move_compensated(DType master, const RoundedBlock& b) {
  Block<float> due, next, rest;
  float *const d = due.data(), *const m = next.data(), *const r = rest.data();
  for_each_value<float>(b.n, [=](std::int64_t i) { d[i] = b.kept[i] - b.updates[i]; });
  round_to(master, d, b.n);
  for_each_value<float>(b.n, [=](std::int64_t i) { m[i] = b.w[i] + d[i]; });
  round_to(master, m, b.n);
  for_each_value<float>(b.n, [=](std::int64_t i) { r[i] = b.w[i] - m[i]; });
  round_to(master, r, b.n);
  for_each_value<float>(b.n, [=](std::int64_t i) { r[i] = d[i] + r[i]; });
  round_to(master, r, b.n);
  const UpdateCounts counts = count_lost(b, [=, w = b.w, kept = b.kept](std::int64_t i) -> Lost {
    return {0, static_cast<std::int32_t>(m[i] == w[i]) & static_cast<std::int32_t>(r[i] == kept[i])};
  });
  std::copy_n(m, b.n, b.next);
  std::copy_n(r, b.n, b.kept);
  return counts;
}

/// moved() without a compensation. To nearest even the update is rounded by itself first.
UpdateCounts move_masters(const UpdateRounding& how, const UpdateWords& words, DType master,
                          const RoundedBlock& b) {
  Block<float> parts, next;
  float *const part = parts.data(), *const m = next.data();
  std::copy_n(b.updates, b.n, part);
  if (how.masters == Rounding::nearest_even) round_to(master, part, b.n);
  for_each_value<float>(b.n, [=](std::int64_t i) { m[i] = b.w[i] - part[i]; });
  keep_in(master, how.masters, m, b.n,
          [words, begin = b.begin](std::int64_t i) { return words.master(begin + i); });
  const UpdateCounts counts = count_lost(b, [=, w = b.w](std::int64_t i) -> Lost {
    const std::int32_t flushed = part[i] == 0, stays = m[i] == w[i];
    return {flushed, (1 - flushed) & stays};
  });
  std::copy_n(m, b.n, b.next);
  return counts;
}

}  // namespace

UpdateCounts move_block(const UpdateRounding& how, const UpdateWords& words, DType master, DType weights,
                        const RoundedBlock& b) {
  const UpdateCounts lost = how.kahan ? move_compensated(master, b) : move_masters(how, words, master, b);
  if (b.weights == nullptr) return lost;
  std::copy_n(b.next, b.n, b.weights);
  keep_in(weights, how.weights, b.weights, b.n,
          [words, begin = b.begin](std::int64_t i) { return words.weight(begin + i); });
  return lost;
}

}  // namespace tinymp::kernels::cpu
