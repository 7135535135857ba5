#pragma once

#include <tinymp/numeric/loss_scaling.h>
#include <tinymp/optim/gradients.h>
#include <concepts>
#include <span>
#include <vector>

/// Loss scaling, Micikevicius et al. 2018 (arXiv 1710.03740), section 3.2. How S moves: loss_scaling.h.
///
///   loss x S -> backward -> every gradient is S times too large, and out of reach of underflow
///            -> unscale: is each one finite?  factor = 1/S -> step, unless one was not -> update S
///
/// Several optimizers may share one scaler. A GAN needs it: its generator and its discriminator have an
/// optimizer each, and S backs off once when the gradients of either overflow.
namespace tinymp {

class LossScaler {
 public:
  /// Throws Error unless every number of the policy is finite and within its bounds: an S above 0, growth
  /// above 1, backoff between 0 and 1, an interval of at least 1.
  explicit LossScaler(const LossScaling& policy);
  LossScaler(const LossScaler&) = delete;
  LossScaler& operator=(const LossScaler&) = delete;

  float factor() const { return state_.read().scale; }  ///< S; waits for the device

  /// loss x S, recorded on the tape. The loss must be an FP32 scalar: 2.3 x 65536 is infinite in FP16.
  Tensor scale(const Tensor& loss);

  /// The S that the last scale() multiplied by, an f32 scalar on the device of that loss. update() leaves it
  /// alone; its item() waits. Throws Error before the first scale().
  Tensor last_factor() const;

  /// One pass over the gradients as backward left them: counts what is not finite, zero and subnormal, and
  /// sets their factor to 1/S (computed in double, then rounded). Throws Error on a second call for the same
  /// gradients, and when a step was taken and its checks never handed to update(). After an exception between
  /// unscale() and step() call zero_grad(): it drops the step.
  UnscaleResult unscale(Gradients& gradients);

  /// Ends the step: hands back the check of every optimizer that shares this scale, and moves S as the policy
  /// says. One bad check among several makes a bad step.
  /// Throws Error when a check is missing, was handed in before, or is another scaler's; then nothing has
  /// changed.
  template <std::same_as<UnscaleResult>... Checks>
  requires(sizeof...(Checks) > 0) void update(Checks&&... checks) {
    UnscaleResult* const all[] = {&checks...};
    end_step(all);
  }

  /// What a run needs to go on where it stopped. The policy is not in it: the recipe says that, once. Waits
  /// for the device.
  ScaleState state() const { return state_.read(); }
  /// Throws Error during a step, and for a state that no scaler of this policy can be in.
  void restore(const ScaleState& state);

 private:
  void end_step(std::span<UnscaleResult* const> checks);
  void expect_no_open_step(const char* caller);
  void follow(Device device);

  LossScaling policy_;
  DeviceValue<ScaleState> state_;                       ///< where the loss and the gradients are
  std::shared_ptr<const Tensor> last_factor_;           ///< of the last scale()
  std::vector<std::shared_ptr<Gradients::Step>> open_;  ///< unscaled, and not yet handed to update()
};

}  // namespace tinymp
