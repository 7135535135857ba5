#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/small_float_codec.h>
#include <cstdint>
#include <limits>

/// Scaling of single tensors for FP8: each tensor has its own scale, and its numbers are multiplied by that scale
/// before they become FP8, so that they fill the range of the format. Where loss_scaling.h has one S for all gradients
/// of a run, here a scale follows from `amax`, the largest |x| of a tensor. CPU and GPU use the same functions.
///
///   delayed scaling   the scale is known before the tensor is: it comes from the amax of earlier steps
///   current scaling   the tensor is read once for its amax, and once more to be scaled
///
/// "FP8 formats for deep learning" (Micikevicius et al. 2022, arXiv 2209.05433) describes scales of tensors. The
/// functions compute what NVIDIA's Transformer Engine and PyTorch's torchao compute, bit for bit.
///
/// An amax is 0 or above, infinite or NaN. `largest` is the largest number of the format: 448 or 57344.
namespace tinymp {

/// Which amax of the history a delayed scale follows.
enum class AmaxAlgorithm : std::uint8_t {
  max,          ///< the largest one
  most_recent,  ///< the newest one
};

/// Transformer Engine's recipe DelayedScaling, with its defaults (transformer_engine/common/recipe).
struct DelayedScaling {
  float largest = 448;
  int margin = 0;             ///< -100 .. 100; the scale is 2^margin times smaller than it could be
  int history_length = 1024;  ///< the number of steps whose amax counts, 1 or more
  AmaxAlgorithm algorithm = AmaxAlgorithm::max;
  bool operator==(const DelayedScaling&) const = default;
};

/// The scale of one tensor, and the place of its next amax. The history itself, `history_length` floats that
/// begin as zeros, is memory of the caller: it lies where the tensor lies.
struct DelayedScale {
  float scale = 1;
  std::int32_t next = 0;  ///< in the history; the oldest amax is there
  bool operator==(const DelayedScale&) const = default;
};

// <exercise delayed_scaling>
/// Returns the scale for a tensor with this amax: largest / 2^margin / amax, or `old` where amax gives none (it is 0,
/// infinite or NaN). A quotient that is infinite becomes the largest float. A quotient too small for a float becomes 0,
/// which a large margin needs: recipes have none (EightBits::largest_margin). (delayed_scaling.cu of Transformer Engine;
/// the division is rounded once.)
TINYMP_HD constexpr float delayed_scale_of(const DelayedScaling& policy, float amax, float old) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (!(amax > 0) || !(amax < infinity)) return old;
  const float scale = policy.largest * power_of_two(-policy.margin) / amax;
  return scale < infinity ? scale : std::numeric_limits<float>::max();
}

/// Ends a step in which the tensor was scaled: `amax` enters the history in place of the oldest one, and the scale
/// of the next step follows. A NaN in the history counts for nothing, as in fmaxf; an infinity keeps the old scale
/// until it leaves the history. For a tensor that was not used in a step nothing is called.
///
/// Transformer Engine moves the history by one place at each step; here `next` goes round instead, and every step
/// sees the same set of numbers.
TINYMP_HD constexpr void move_delayed_scale(const DelayedScaling& policy, float* history, float amax,
                                            DelayedScale& state) {
  history[state.next] = amax;
  state.next = state.next + 1 == policy.history_length ? 0 : state.next + 1;
  if (policy.algorithm == AmaxAlgorithm::max) {
    amax = 0;
    for (int i = 0; i < policy.history_length; ++i)
      if (history[i] > amax) amax = history[i];
  }
  state.scale = delayed_scale_of(policy, amax, state.scale);
}
// </exercise delayed_scaling>

/// Returns Transformer Engine's current scale (compute_scale_from_amax in recipe_common.cuh, with amax_eps 0 and any
/// scale allowed): largest / amax; 1 where amax is 0, infinite or NaN; the largest float where the quotient is
/// infinite.
TINYMP_HD constexpr float te_current_scale(float amax, float largest) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (!(amax > 0) || !(amax < infinity)) return 1;
  const float scale = largest / amax;
  return scale < infinity ? scale : std::numeric_limits<float>::max();
}

/// Returns torchao's current scale (amax_to_scale in torchao/float8/float8_utils.py, tensorwise, any scale allowed):
/// largest / max(amax, 1e-12), computed in double, then rounded. Infinity gives 0, and NaN gives NaN.
TINYMP_HD constexpr float torchao_current_scale(float amax, float largest) {
  constexpr double least = 1e-12;
  const double above = static_cast<double>(amax) < least ? least : static_cast<double>(amax);  // NaN stays
  return static_cast<float>(static_cast<double>(largest) / above);
}

}  // namespace tinymp
