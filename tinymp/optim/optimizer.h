#pragma once

#include <kernels/kernels.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/optim/gradients.h>
#include <tinymp/tensor/tensor.h>
#include <memory>
#include <optional>
#include <vector>

/// What every optimizer shares: flat arenas, the two passes over them, and the master copies.
namespace tinymp {

/// One step of one optimizer, from zero_grad() to zero_grad().
struct Gradients::Step {
  Tensor arena;               ///< every gradient, one behind the other, still multiplied by S
  DeviceValue<float> factor;  ///< 1 / S, and clipping: set when unscaled
  Stage stage = Stage::scaled;
};

/// Lays its parameters, their gradients, the master copy and the moments one behind the other in flat arenas,
/// so that a step is two passes: the check (LossScaler::unscale), then unscale + clip + update + cast in one.
class Optimizer {
 public:
  virtual ~Optimizer();  ///< the parameters keep their values and are free for another optimizer
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// The gradients that backward has left since zero_grad(); those of a parameter that took no part are zero:
  /// its momentum, moments and weight decay go on. (PyTorch leaves such a parameter out of the step.)
  /// Throws Error when backward has left none at all.
  Gradients gradients();

  /// Updates every parameter, or nothing at all - weights, masters, moments, batch norm's running averages
  /// and the step counter keep their bits - when the check says that a gradient was not finite and the
  /// scaling skips such steps. Throws Error when the gradients were not unscaled, the check is not theirs, or
  /// this step was taken already.
  /// The outcome lies on the device, and tells which updates changed no weight; its read() waits.
  DeviceValue<kernels::StepOutcome> step(const Gradients& gradients, const UnscaleResult& check);

  /// For meters: the updates of the step just taken, as FP32 had them before anything was rounded to the
  /// master's format. `before` is what master() held then. Computed once more, on the CPU; waits. Throws
  /// Error when there was no step since zero_grad(), or it was skipped: then nothing was updated.
  std::vector<float> exact_updates(const Gradients& gradients, const Tensor& before) const;

  /// Forgets the gradients, so that the next backward writes new ones, and what waits for a step: between a
  /// forward pass and its step it loses that pass's moves of batch norm's running averages.
  void zero_grad();

  float learning_rate() const { return learning_rate_; }
  void set_learning_rate(float lr);  ///< throws Error unless lr is finite and not negative
  std::int64_t steps() const { return step_.read().steps; }  ///< taken so far; waits

  const char* name() const { return name_; }          ///< "Adam"
  const Tensor& weights() const { return weights_; }  ///< all parameters, compute format
  /// The copy that is updated; weights() itself when there is none.
  const Tensor& master() const { return master_; }
  const std::vector<Tensor>& moments() const { return moments_; }

  /// Everything needed to go on: copies, not handles, and on the CPU, where they take no room from a
  /// training.
  struct State {
    std::int64_t steps = 0;
    float learning_rate = 0;
    Tensor weights, master;
    std::vector<Tensor> moments;
  };
  State state() const;
  void restore(const State& state);  ///< throws Error when shapes or formats are another optimizer's

 protected:
  /// `recipe` says in which formats gradients, master and moments are kept; the parameters' own is
  /// recipe.compute. One that has the master's format (batch norm's, with fp32_norm_parameters) is its own
  /// master. Throws Error for f64: updates are computed in FP32.
  Optimizer(const char* name, std::vector<Tensor> parameters, float lr, int moments, const Recipe& recipe);

  virtual kernels::UpdateRule rule() const = 0;

 private:
  kernels::UpdateArenas arenas() const;

  const char* name_;
  std::vector<Tensor> parameters_;
  float learning_rate_ = 0;
  DeviceValue<kernels::StepState> step_;
  Tensor weights_, master_;
  std::vector<Tensor> moments_;
  std::shared_ptr<Gradients::Step> gradients_;
  std::optional<DeviceValue<kernels::StepOutcome>> last_;
};

}  // namespace tinymp
