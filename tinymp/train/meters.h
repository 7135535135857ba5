#pragma once

#include <tinymp/optim/optimizer.h>
#include <tinymp/train/histogram.h>
#include <tinymp/train/task.h>
#include <span>

namespace tinymp::train {

/// The same model in FP32, which shows what FP16 lost. The shadow takes over the weights, runs the same batch
/// forwards and backwards, and compares the gradients one by one; of micro-batches their sums. A gradient that
/// is zero in the shadow too (for the weight of a pixel that is always black, say) was not lost. A comparison
/// costs one FP32 step, so a run compares only every so many steps.
class Shadow {
 public:
  /// `model` is a second model of the same shapes under an FP32 recipe.
  explicit Shadow(std::unique_ptr<nn::Model> model);

  /// Takes over the weights and buffers of `of`. Call it before the forward pass of `of`, which changes the
  /// buffers: the next mask of a dropout, for one, differs.
  void follow(const nn::Model& of);

  /// Returns the share of flushed gradients: zero in `of`, out of those that are not zero in FP32.
  double flushed(Task task, const nn::Model& of, std::span<const data::Batch> batches);

  /// Returns the sizes of the FP32 gradients times `scale`, the S of `of`, parameter by parameter.
  std::vector<GradientSizes> sizes(Task task, const nn::Model& of, std::span<const data::Batch> batches,
                                   double scale);

 private:
  void backward(Task task, std::span<const data::Batch> batches);
  std::unique_ptr<nn::Model> model_;
};

/// Copies of an optimizer's masters, and of their compensation, which is empty where there is none. Of a shared optimizer they
/// are whole, and rank 0 alone may ask for them (optim/shards.h).
struct KeptMasters {
  Tensor master, compensation;
};
KeptMasters masters_of(const Optimizer& optimizer);

/// The sizes of one step's gradients and updates. Make it between backward and the optimizer's step, and call
/// add_updates() after the step. It costs an FP32 step when there is a shadow, and its copies to the CPU cost
/// about as much as the optimizer's step. So a run does this only every so many steps.
class StepHistograms {
 public:
  /// Counts the FP32 gradients times `scale`. They come from the shadow, or from `model` itself when it is
  /// FP32 and there is no shadow. The gradients of `model` are multiplied by `scale`. `before` is of before the step.
  StepHistograms(std::int64_t step, double scale, Task task, const nn::Model& model,
                 std::span<const data::Batch> batches, Shadow* shadow, KeptMasters before);
  /// Call it after a step that was taken: adds the updates of all parameters, in the order of the model.
  void add_updates(const Optimizer& optimizer, const Gradients& gradients);

  const StepSizes& sizes() const { return sizes_; }
  /// Returns the share of flushed gradients, as Shadow::flushed() does.
  double flushed() const;

 private:
  StepSizes sizes_;
  KeptMasters before_;
};

}  // namespace tinymp::train
