#include <kernels/cpu/rounded_update.h>
#include <tinymp/numeric/dtype.h>

namespace tinymp::kernels::cpu {
namespace {

template <class Master>
UpdateCounts move_masters(const UpdateRounding& how, const UpdateWords& words, const RoundedBlock& b) {
  UpdateCounts lost;
  for (std::int64_t i = 0; i < b.n; ++i) {
    const std::uint32_t word = how.masters == Rounding::stochastic ? words.master(b.begin + i) : 0;
    const float kept = b.kept != nullptr ? b.kept[i] : 0;
    const MovedWeight m = moved<Master>(how, b.w[i], kept, b.updates[i], word);
    b.next[i] = m.next;
    if (b.kept != nullptr) b.kept[i] = m.compensation;
    lost.values += b.updates[i] != 0;
    lost.underflowed += m.underflowed;
    lost.absorbed += m.absorbed;
  }
  return lost;
}

template <class Weight>
void round_weights(const UpdateRounding& how, const UpdateWords& words, const RoundedBlock& b) {
  for (std::int64_t i = 0; i < b.n; ++i) {
    const std::uint32_t word = how.weights == Rounding::stochastic ? words.weight(b.begin + i) : 0;
    b.weights[i] = kept_in<Weight>(b.next[i], how.weights, word);
  }
}

}  // namespace

UpdateCounts move_block(const UpdateRounding& how, const UpdateWords& words, DType master, DType weights,
                        const RoundedBlock& b) {
  const UpdateCounts lost = visit_dtype(master, [&]<class T> { return move_masters<T>(how, words, b); });
  if (b.weights != nullptr) visit_dtype(weights, [&]<class T> { round_weights<T>(how, words, b); });
  return lost;
}

}  // namespace tinymp::kernels::cpu
