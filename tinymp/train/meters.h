#pragma once

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

  /// Of the gradient values that are not zero in FP32, the share that is zero in `of`'s gradients.
  double flushed(Task task, const nn::Model& of, const data::Batch& batch);

 private:
  std::unique_ptr<nn::Model> model_;
};

}  // namespace tinymp::train
