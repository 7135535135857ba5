// Exercise 13.2: delayed scaling, as NVIDIA's Transformer Engine has it.
//
// The numbers of a tensor are multiplied by its scale before they become FP8. The scale is known before the tensor is: it
// follows from `amax`, the largest |x|, of earlier steps. This function ends a step in which the tensor was scaled.
//
//     amax               of this step: 0 or above, infinite or NaN
//     history            policy.history_length floats, a ring. The oldest one is history[state.next]
//     state.scale        the scale of this step; you set the one of the next step
//
// 1. `amax` takes the place of the oldest one, and state.next goes on by one place; behind policy.history_length - 1 comes 0.
// 2. The amax that counts, of the history with the new one in it:
//        AmaxAlgorithm::max            the largest; a NaN counts for nothing, as in fmaxf
//        AmaxAlgorithm::most_recent    the newest
// 3. state.scale = policy.largest / 2^policy.margin / that amax, a float. policy.largest is the largest number of the
//    format. A quotient that is infinite becomes the largest float, and one that is too small for a float is 0. If the amax
//    that counts is 0, infinite or NaN, the old scale stays.
//
// Compared are state.scale, state.next and the whole history. Behind the history nothing may change. te_current_scale and
// torchao_current_scale, which have other rules, are not there to be called.
//
// power_of_two(n) is 2^n as a float. Multiply first, then divide: so one rounding is left. std::numeric_limits<float> has
// infinity() and max(). (A tensor that was not used in a step has no amax: then nothing is called.)
TINYMP_HD constexpr void move_delayed_scale(const DelayedScaling& policy, [[maybe_unused]] float* history,
                                            float amax, DelayedScale& state) {
  state.scale = policy.largest / amax;  // TODO: the history, the margin, and an amax that gives no scale
}
