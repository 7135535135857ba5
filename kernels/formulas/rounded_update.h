#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/rounded.h>
#include <cstdint>

/// How w - u becomes a number of the master's format, one text for CPU and GPU. The plain way, two roundings to
/// nearest, is in the loops of take_step.
namespace tinymp::kernels {

/// What a recipe says of it, and where the random words come from.
struct UpdateRounding {
  Rounding masters = Rounding::nearest_even, weights = Rounding::nearest_even;
  bool kahan = false;
  std::uint64_t seed = 0;
  bool same_words_each_step = false;  ///< a mistake on request: Optimizer::set_same_words_each_step

  TINYMP_HD constexpr bool is_plain() const {
    return masters == Rounding::nearest_even && weights == Rounding::nearest_even && !kahan;
  }
};

/// x as it will be when it is read again from a T. Formats of 32 bits and more hold every x.
template <class T>
TINYMP_HD constexpr float kept_in(float x, Rounding mode = Rounding::nearest_even, std::uint32_t random = 0) {
  if constexpr (sizeof(T) > 2)
    return x;
  else if (mode == Rounding::nearest_even)
    return converted<float>(converted<T>(x));
  else
    return converted<float>(rounded<T>(x, mode, random));
}

/// A weight after its update, and what the update came to: UpdateCounts.
struct MovedWeight {
  float next, compensation;
  bool underflowed, absorbed;
};

// <exercise kahan>
/// Kahan's compensated sum in a T, as the optimizer library optimi has it: `kept` is what the roundings before have lost.
/// w, kept and the results are numbers that T has.
template <class T>
TINYMP_HD constexpr MovedWeight moved_kahan(float w, float kept, float update) {
  const float due = kept_in<T>(kept - update);
  const float next = kept_in<T>(w + due);
  const float arrived = kept_in<T>(w - next);  // minus what arrived
  const float rest = kept_in<T>(due + arrived);
  return {next, rest, false, update != 0 && next == w && rest == kept};
}
// </exercise kahan>

// <exercise stochastic_update>
/// The random words of one step: hashes of (seed, step, purpose, place in the arena), and of nothing else. So the order
/// of the threads does not change them, and a resumed run has those of a run that was never stopped.
class UpdateWords {
 public:
  /// `step`: StepState::steps in the step, 1 or above.
  TINYMP_HD constexpr UpdateWords(const UpdateRounding& how, std::int64_t step)
      : masters_(of_step(how, step).split(0)), weights_(of_step(how, step).split(1)) {}

  TINYMP_HD constexpr std::uint32_t master(std::int64_t place) const { return word(masters_, place); }
  TINYMP_HD constexpr std::uint32_t weight(std::int64_t place) const { return word(weights_, place); }

 private:
  TINYMP_HD static constexpr Rng of_step(const UpdateRounding& how, std::int64_t step) {
    return Rng(how.seed).split(how.same_words_each_step ? 0 : static_cast<std::uint64_t>(step));
  }
  TINYMP_HD static constexpr std::uint32_t word(const Rng& stream, std::int64_t place) {
    return static_cast<std::uint32_t>(Rng(stream.seed(), static_cast<std::uint64_t>(place)).next_u64() >> 32);
  }
  Rng masters_, weights_;
};

/// w moves by -update, and is a number of T again. `kept` is Kahan's compensation, else 0. Toward zero and at random the
/// difference is rounded once: rounding the update first would flush what is below the smallest T.
template <class T>
TINYMP_HD constexpr MovedWeight moved(const UpdateRounding& how, float w, float kept, float update,
                                      std::uint32_t random) {
  if (how.kahan) return moved_kahan<T>(w, kept, update);
  const bool plain = how.masters == Rounding::nearest_even;
  const float part = plain ? kept_in<T>(update) : update;
  const float next = kept_in<T>(w - part, how.masters, random);
  return {next, 0, update != 0 && part == 0, part != 0 && next == w};
}
// </exercise stochastic_update>

}  // namespace tinymp::kernels
