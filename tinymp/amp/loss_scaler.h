#pragma once

#include <tinymp/numeric/loss_scaling.h>
#include <tinymp/optim/gradients.h>
#include <concepts>
#include <span>
#include <vector>

/// Loss scaling, Micikevicius et al. 2018 (arXiv 1710.03740), section 3.2. How S moves: loss_scaling.h.
///
///   loss x S -> backward: every gradient is S times too large, and fewer of them underflow
///            -> unscale: counts gradients that are not finite, sets factor = 1/S
///            -> step, or skip it if there are such gradients and the policy skips -> update S
///
/// A step is open from unscale() until update(). Several optimizers may share one scaler. A GAN, for example, trains two
/// networks against each other, and each network has an optimizer. In one step S backs off only once, even if the gradients
/// of both optimizers overflow.
namespace tinymp {

class LossScaler {
 public:
  /// Throws Error unless every number of the policy is finite and within bounds: an S above 0, growth above
  /// 1, backoff above 0 and below 1, an interval of at least 1, floors as fault_of() wants them.
  explicit LossScaler(const LossScaling& policy);
  LossScaler(const LossScaler&) = delete;
  LossScaler& operator=(const LossScaler&) = delete;

  float factor() const { return state_.read().scale; }  ///< S itself; waits for the device

  /// Returns loss x S, recorded on the tape. Throws Error unless the loss is one FP32 value: a classifier's
  /// first loss, 2.3, times 65536 is infinite in FP16. Also throws Error when a step of this scaler is still open on another
  /// device.
  Tensor scale(const Tensor& loss);

  /// Returns the S that the last scale() multiplied by: an f32 scalar on the device of that loss. update()
  /// does not change this scalar. Its item() waits for the device. Throws Error before the first scale().
  Tensor last_factor() const;

  /// Returns S itself, an f32 scalar on `device`. Give it to a Tape as its seed: backward() then begins with S instead of 1.
  /// This gives the same gradients, bit for bit, as backward(scale(loss)), but no kernel multiplies the loss. update()
  /// changes the value of the scalar. Throws Error when another step of this scaler is open on another device.
  Tensor seed(Device device);
  /// The same for a micro-batch with `share` times the samples of a whole one: share S, of this moment, computed in FP32. A
  /// loss is the mean over its own micro-batch; with these seeds the samples of all of them count alike. Throws Error unless
  /// share is finite and above 0.
  Tensor seed(Device device, double share);

  /// Counts the non-finite, zero and subnormal gradients that backward left, in one pass. Sets the factor of the
  /// gradients to 1/S (computed in double, then rounded), of sums over micro-batches (Optimizer::gradients) to a part of
  /// it. Throws Error in four cases: unscale() was called before
  /// for these gradients; the gradients are from before zero_grad(); in the previous training step, step() and
  /// zero_grad() were called, but update() was not; another step of this scaler is open on another device. After an
  /// exception between unscale() and step(), call zero_grad(): it drops the step.
  UnscaleResult unscale(Gradients& gradients);
  /// The same, then clip_norm(gradients, max_norm). With at most 2^24 gradients a GPU does both in one pass. With more it
  /// takes two passes. Throws Error as both do.
  UnscaleResult unscale(Gradients& gradients, float max_norm);

  /// Ends the step and moves S by the policy. The arguments are the checks of all optimizers that share this
  /// scaler; one bad check makes the step bad.
  /// Throws Error, and changes nothing, when a check is missing, was passed before or is another scaler's.
  template <std::same_as<UnscaleResult>... Checks>
  requires(sizeof...(Checks) > 0) void update(Checks&&... checks) {
    UnscaleResult* const all[] = {&checks...};
    end_step(all);
  }

  /// The same for a step that has one check. Also adds a record of the step to `records`: its loss, norm, counts and
  /// outcome, and S from before the move. Calls one kernel and does not wait. Throws Error as the other update() does.
  void update(UnscaleResult&& check, const Tensor& loss, const DeviceValue<kernels::StepOutcome>& outcome,
              const DeviceValue<kernels::StepRecords>& records);

  /// Returns the state that a run needs to continue where it stopped. The policy is not in it: the recipe
  /// holds the policy. Waits for the device.
  ScaleState state() const { return state_.read(); }
  /// Throws Error during a step, and for a state that is not valid. If the policy moves S, a state is valid
  /// when four things hold: S is finite and at least 0 (it may have backed off to 0); the count of good steps
  /// is at least 0 and below 2^30; the count of all steps is at least 0; and `bad`, the mark of a bad check
  /// within a step, is false. Under any other
  /// policy the only valid state is the one that the scaler starts with.
  void restore(const ScaleState& state);

 private:
  UnscaleResult begin_check(Gradients& gradients);
  UnscaleResult opened(UnscaleResult check);
  void expect_all(std::span<UnscaleResult* const> checks) const;
  void end_step(std::span<UnscaleResult* const> checks);
  void expect_no_open_step(const char* caller);
  void follow(Device device);

  LossScaling policy_;
  DeviceValue<ScaleState> state_;                       ///< on the device of the loss and the gradients
  std::shared_ptr<const Tensor> last_factor_;           ///< the S of the last scale()
  std::vector<std::shared_ptr<Gradients::Step>> open_;  ///< steps between unscale() and update()
};

}  // namespace tinymp
