#pragma once

#include <tinymp/optim/optimizer.h>
#include <tinymp/train/histogram.h>
#include <tinymp/train/task.h>

namespace tinymp::train {

/// The same model in FP32, for asking what FP16 lost: it takes over the weights, runs the same batch forwards
/// and backwards, and its gradients are compared one by one. Where the shadow too has a zero - the weights of
/// pixels that are always black - nothing was lost. One look costs one FP32 step, so a run takes one every so
/// many steps.
class Shadow {
 public:
  /// `model` is a second model of the same shapes under an FP32 recipe.
  explicit Shadow(std::unique_ptr<nn::Model> model);

  /// Takes over the weights and buffers of `of`: before the forward that it is compared with, which moves the
  /// buffers on. The next mask of a dropout is another one.
  void follow(const nn::Model& of);

  /// Of the gradient values that are not zero in FP32, the share that is zero in `of`'s gradients.
  double flushed(Task task, const nn::Model& of, const data::Batch& batch);

  /// The same look, parameter by parameter and by size: FP32's gradients times `scale`, the S of `of`'s.
  std::vector<GradientSizes> sizes(Task task, const nn::Model& of, const data::Batch& batch, double scale);

 private:
  void backward(Task task, const data::Batch& batch);
  std::unique_ptr<nn::Model> model_;
};

/// The sizes of one step's gradients and updates: begun between backward and the optimizer's step, ended
/// after it. It costs an FP32 step where there is a shadow, and what it copies to the CPU about as much as
/// the optimizer's step, so a run does this every so many steps.
class StepHistograms {
 public:
  /// The gradients of `model`, which are multiplied by `scale`, as FP32 has them: from the shadow, or, when
  /// the model itself is FP32 and there is none, its own.
  StepHistograms(std::int64_t step, double scale, Task task, const nn::Model& model, const data::Batch& batch,
                 Shadow* shadow, const Optimizer& optimizer);
  /// Call it after a step that was taken: adds the updates of all parameters, in the order of the model.
  void add_updates(const Optimizer& optimizer, const Gradients& gradients);

  const StepSizes& sizes() const { return sizes_; }
  /// As Shadow::flushed.
  double flushed() const;

 private:
  StepSizes sizes_;
  Tensor master_;  ///< as it was
};

}  // namespace tinymp::train
