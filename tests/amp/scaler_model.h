#pragma once

#include <cmath>
#include <vector>

/// What torch.amp.GradScaler does to its scale, written down from torch/amp/grad_scaler.py and the CPU kernel
/// of _amp_update_scale_ (ATen/native/cpu/AmpGradScalerKernels.cpp), and from nothing in tinymp.
/// gradscaler_model_test holds it to recordings of the real one; loss_scaler_test then holds LossScaler to
/// it.
namespace tinymp::test {

struct ScalerModel {
  float scale = 65536;
  double growth = 2;
  double backoff = 0.5;
  int interval = 2000;
  int tracker = 0;

  /// The factor of the gradients: 1/S formed in double, rounded to float once.
  float unscale_factor() const { return static_cast<float>(1 / static_cast<double>(scale)); }

  /// Which optimizers step: each one looks at its own gradients only.
  static std::vector<bool> stepped(std::vector<bool> bad) {
    bad.flip();
    return bad;
  }

  /// The end of a step. One bad optimizer or all of them: one backoff. No lower bound; the upper one is the
  /// largest float. The tracker is compared for equality: past the interval it never grows again.
  void update(const std::vector<bool>& bad) {
    bool any_bad = false;
    for (const bool one : bad) any_bad = any_bad || one;
    if (any_bad) {
      scale = static_cast<float>(static_cast<double>(scale) * backoff);
      tracker = 0;
      return;
    }
    ++tracker;
    if (tracker != interval) return;
    tracker = 0;
    const auto grown = static_cast<float>(static_cast<double>(scale) * growth);
    if (std::isfinite(grown)) scale = grown;
  }
};

}  // namespace tinymp::test
