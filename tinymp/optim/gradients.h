#pragma once

#include <kernels/step.h>
#include <tinymp/tensor/device_value.h>
#include <cstdint>
#include <memory>
#include <utility>

/// The gradients of one optimizer's parameters, and the protocol that a training step keeps:
///   backward -> unscale (checks, and divides by S) -> clip -> step -> update the scale -> zero_grad
/// Unscaling and clipping change no gradient: they change a factor, which the optimizer applies in FP32 as it
/// reads. No gradient is copied, and no call waits for the device unless its comment says so: what a step
/// finds stays there until a program reads it.
///
/// Micro-batches: several backwards before the one unscale add up in the arena, in recipe.gradient. FP16
/// recipes keep that f16, and small addends vanish; set gradient = f32 (two more bytes a parameter) to add
/// micro-batches up.
namespace tinymp {

class LossScaler;
class Optimizer;
class Tensor;
struct View;

/// How far a step has come.
enum class Stage : std::uint8_t {
  scaled,    ///< backward leaves the gradients multiplied by S
  unscaled,  ///< unscale() has looked at them, and the factor is known
  stepped,   ///< step() has moved the weights, or has skipped the step
  dropped,   ///< zero_grad() came before step(): the step is given up
  over,      ///< zero_grad() came after step()
};

/// A view on the gradients of an optimizer, from Optimizer::gradients(). Good until zero_grad().
class Gradients {
 public:
  View view() const;  ///< as backward left them: multiplied by S
  const Tensor& tensor() const;
  /// True gradient = value x factor. Waits. Throws Error before unscale() and after zero_grad().
  float factor() const;
  bool unscaled() const;  ///< unscale() came, and zero_grad() did not yet

 private:
  friend class LossScaler;
  friend class Optimizer;
  friend class UnscaleResult;
  friend Tensor clip_norm(Gradients& gradients, float max_norm);

  /// One step of one optimizer. zero_grad() begins another; handles on the old one then know from its stage.
  struct Step;
  explicit Gradients(std::shared_ptr<Step> step) : step_(std::move(step)) {}
  void expect_current(const char* caller) const;

  std::shared_ptr<Step> step_;
};

/// What unscale() found. Only LossScaler::unscale makes one; step() reads it and LossScaler::update consumes
/// it, so a step whose gradients were not checked does not compile.
class [[nodiscard]] UnscaleResult {
 public:
  UnscaleResult(UnscaleResult&&) = default;
  UnscaleResult& operator=(UnscaleResult&&) = default;

  bool finite() const { return counts().nonfinite == 0; }      ///< waits
  bool skips() const { return skip_nonfinite_ && !finite(); }  ///< step() leaves everything as it is; waits
  kernels::GradientCounts counts() const { return found_.read(); }  ///< exact; waits
  const DeviceValue<kernels::GradientCounts>& found() const {
    return found_;
  }  ///< the same, to be read later

 private:
  friend class LossScaler;
  friend class Optimizer;
  UnscaleResult(std::shared_ptr<Gradients::Step> step, Device device, bool skip_nonfinite)
      : found_(device), skip_nonfinite_(skip_nonfinite), step_(std::move(step)) {}

  DeviceValue<kernels::GradientCounts> found_;
  bool skip_nonfinite_;
  std::shared_ptr<Gradients::Step> step_;  ///< empty once moved from
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
