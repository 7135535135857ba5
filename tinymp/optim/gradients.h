#pragma once

#include <kernels/kernels.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <memory>

/// The gradients of one optimizer's parameters, and the protocol that a training step keeps:
///   backward -> unscale (checks, and divides by S) -> clip -> step -> update the scale -> zero_grad
/// Unscaling and clipping change no gradient: they change a factor, which the optimizer applies in FP32 as it
/// reads. No gradient is copied, and nobody waits for the device: what a step finds stays there until
/// somebody asks. Below, whatever is said to wait brings it over.
///
/// Micro-batches: several backwards before the one unscale add up in the arena, in recipe.gradient. FP16
/// recipes keep that f16, and small addends vanish; set gradient = f32 (two more bytes a parameter) to add
/// micro-batches up.
namespace tinymp {

class LossScaler;
class Optimizer;

/// Where one optimizer's gradients stand in the protocol. Optimizers own it; the handles below point to it.
struct GradientState {
  Tensor arena;               ///< every gradient, one behind the other, still multiplied by S
  DeviceValue<float> factor;  ///< counts once `unscaled`
  bool unscaled = false;
  std::uint64_t round = 1;          ///< zero_grad() begins a new one
  std::uint64_t stepped_round = 0;  ///< the last in which step() was called
};

/// A view on the gradients of an optimizer, from Optimizer::gradients(). Good until zero_grad().
class Gradients {
 public:
  View view() const { return state_->arena.view(); }  ///< as backward left them: multiplied by S
  const Tensor& tensor() const { return state_->arena; }
  /// After unscale(): true gradient = value x factor. Before it: 1, and the values are still times S. Waits.
  float factor() const { return unscaled() ? state_->factor.read() : 1; }
  bool unscaled() const { return state_->unscaled; }

 private:
  friend class LossScaler;
  friend class Optimizer;
  friend Tensor clip_norm(Gradients& gradients, float max_norm);
  explicit Gradients(std::shared_ptr<GradientState> state)
      : state_(std::move(state)), round_(state_->round) {}
  void expect_current(const char* who) const;

  std::shared_ptr<GradientState> state_;
  std::uint64_t round_;
};

/// What unscale() found. Only LossScaler::unscale makes one; step() reads it and LossScaler::update consumes
/// it, so a step whose gradients were not checked does not compile.
class [[nodiscard]] GradCheck {
 public:
  GradCheck(GradCheck&&) = default;
  GradCheck& operator=(GradCheck&&) = default;

  bool finite() const { return counts().nonfinite == 0; }      ///< waits
  bool skips() const { return skip_nonfinite_ && !finite(); }  ///< step() leaves everything as it is; waits
  kernels::GradientScan counts() const { return found_.read(); }              ///< exact; waits
  const DeviceValue<kernels::GradientScan>& found() const { return found_; }  ///< the same, to be read later

 private:
  friend class LossScaler;
  friend class Optimizer;
  GradCheck(Device device, bool skip_nonfinite) : found_(device), skip_nonfinite_(skip_nonfinite) {}
  DeviceValue<kernels::GradientScan> found_;
  bool skip_nonfinite_;
  std::shared_ptr<GradientState> of_;  ///< empty once moved from
  std::uint64_t round_ = 0;
};

/// Makes the factor smaller where the L2 norm of all (unscaled) gradients is above max_norm, so that it
/// becomes max_norm: factor *= max_norm / (norm + 1e-6), as in PyTorch's clip_grad_norm_; but the squares are
/// summed in f64, where PyTorch's norm in FP32 is infinite above 1.8e19 and turns all gradients to 0. Returns
/// the norm before clipping, an f32 scalar whose item() waits. A norm that is not finite changes nothing: the
/// check says so, and whether the step is taken all the same is the scaling's choice. Throws Error when the
/// gradients are still multiplied by S (Micikevicius et al. 2018: unscale first, then clip), and unless
/// max_norm is positive.
Tensor clip_norm(Gradients& gradients, float max_norm);

}  // namespace tinymp
