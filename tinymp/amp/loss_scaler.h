#pragma once

#include <tinymp/numeric/recipe.h>
#include <tinymp/optim/gradients.h>
#include <concepts>
#include <span>

/// Loss scaling, Micikevicius et al. 2018 (arXiv 1710.03740), section 3.2; dynamic scaling with the semantics
/// of PyTorch's GradScaler (torch/amp/grad_scaler.py).
///
///   loss x S -> backward -> every gradient is S times too large, and out of reach of underflow
///            -> unscale: is each one finite?  factor = 1/S -> step, unless one was not -> update S
namespace tinymp {

class LossScaler {
 public:
  /// Throws Error unless the factor is positive and finite, growth finite and above 1, backoff between 0 and
  /// 1, and the interval at least 1.
  explicit LossScaler(const LossScaling& policy);
  LossScaler(const LossScaler&) = delete;
  LossScaler& operator=(const LossScaler&) = delete;

  float factor() const { return state_.read().scale; }  ///< S; waits for the device

  /// S in an f32 scalar: a copy, which update() leaves alone; its item() waits. (Another device than that of
  /// the last loss waits at once.)
  Tensor factor_on(Device device) const;

  /// loss x S, recorded on the tape. The loss must be an FP32 scalar: 2.3 x 65536 is infinite in FP16.
  Tensor scale(const Tensor& loss);

  /// One pass over the gradients as backward left them: counts what is not finite, zero and subnormal, and
  /// sets their factor to 1/S (computed in double, then rounded). Throws Error on a second call for the same
  /// gradients, and when a step was taken and its checks never handed to update(). A step that was given up
  /// before that, by an exception say, ends with zero_grad(): what it had unscaled is forgotten.
  GradCheck unscale(Gradients& gradients);

  /// Ends the step: hands back the check of every optimizer that shares this scale, and moves S. One bad
  /// check among several backs S off once. Dynamic scaling only:
  ///   bad   S = S x backoff, and the count of good steps starts again
  ///   good  after growth_interval in a row S = S x growth, and the count starts again
  /// to the letter: kernels/scale_update.h.
  /// Throws Error when a check is missing, was handed in before, or is another scaler's; then nothing has
  /// changed.
  template <std::same_as<GradCheck>... Checks>
  requires(sizeof...(Checks) > 0) void update(Checks&&... checks) {
    GradCheck* const all[] = {&checks...};
    end_step(all);
  }

  /// What a run needs to go on where it stopped. The policy is not in it: the recipe says that, once.
  struct State {
    float scale = 1;
    int growth_tracker = 0;  ///< good steps in a row
    bool operator==(const State&) const = default;
  };
  State state() const;  ///< waits for the device
  /// Throws Error during a step, and for a state that no scaler of this policy can be in.
  void restore(const State& state);

 private:
  void end_step(std::span<GradCheck* const> checks);

  void expect_no_open_step(const char* who);
  void follow(Device device);

  /// Gradients that were unscaled in this step.
  struct Open {
    std::shared_ptr<GradientState> of;
    std::uint64_t round;
    bool operator==(const Open&) const = default;
  };

  LossScaling policy_;
  DeviceValue<kernels::ScaleState> state_;  ///< where the loss and the gradients are
  std::vector<Open> open_;
};

}  // namespace tinymp
