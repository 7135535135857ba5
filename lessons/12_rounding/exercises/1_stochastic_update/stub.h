// Exercise 12.1: a stochastic update. Two parts: the random words of a step, and what is done with one.
//
// UpdateWords(how, step) gives the words of one step. Each word is a hash, so the order of the calls does not matter:
//
//     generator of the step      Rng(how.seed).split(step); where how.same_words_each_step is true: .split(0)
//     ... of a purpose           that generator's .split(0) for masters, .split(1) for weights
//     word of a place            the upper 32 bits of the next_u64() of Rng(seed of the purpose's generator, place)
//
// Rng(seed, n).next_u64() is number n + 1 of the generator with this seed; generator.seed() is its seed.
//
// moved<T>(...) takes w to w - update. w and the result are numbers of the format T; w and update are floats.
//
//     how.kahan                          moved_kahan<T>(w, kept, update) does it all
//     how.masters nearest_even           next = R(w - R(update)), R rounds to nearest: kept_in<T>(x)
//     how.masters of any other kind      next = R(w - update), rounded once: kept_in<T>(x, how.masters, random)
//
// Return {next, 0, underflowed, absorbed}. underflowed: the update is not 0, and R(update) is; only where the update is
// rounded by itself. absorbed: what was subtracted is not 0, and next == w.
//
// Compared are the words, bit for bit, and the four fields of what moved() returns.
class UpdateWords {
 public:
  TINYMP_HD constexpr UpdateWords(const UpdateRounding& how, std::int64_t) : masters_(how.seed) {}

  TINYMP_HD constexpr std::uint32_t master(std::int64_t place) const {
    return static_cast<std::uint32_t>(Rng(masters_.seed(), static_cast<std::uint64_t>(place)).next_u64() >>
                                      32);
  }
  TINYMP_HD constexpr std::uint32_t weight(std::int64_t place) const { return master(place); }

 private:
  Rng masters_;  // TODO: the step, and a generator for each purpose
};

template <class T>
TINYMP_HD constexpr MovedWeight moved(const UpdateRounding& how, float w, float kept, float update,
                                      [[maybe_unused]] std::uint32_t random) {
  if (how.kahan) return moved_kahan<T>(w, kept, update);
  return {kept_in<T>(w - update), 0, false, false};  // TODO
}
