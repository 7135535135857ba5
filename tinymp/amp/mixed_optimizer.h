#pragma once

#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizer.h>
#include <functional>

/// Mixed precision through a wrapper around the optimizer, as in TensorFlow 1.14. In TensorFlow one line turns an
/// FP32 program into a mixed-precision program.
///
///   Sgd sgd(tensors(model.parameters()), {.lr = 0.1f});
///   MixedOptimizer optimizer(sgd);                     tf...enable_mixed_precision_graph_rewrite(sgd)
///   ...
///   optimizer.minimize([&] { return cross_entropy(model(images), labels); });
///
/// TensorFlow's rewrite finds the ops in a graph. tinymp has no graph, so minimize() takes a function that
/// computes the loss. by_hand.h shows this program in the style of MXNet, autocast.h in the style of PyTorch.
namespace tinymp {

class MixedOptimizer {
 public:
  explicit MixedOptimizer(Optimizer& optimizer, const LossScaling& scaling = DynamicScaling{},
                          DType format = DType::f16)
      : optimizer_(optimizer), scaler_(scaling), format_(format) {}

  struct Step {
    Tensor loss;
    DeviceValue<kernels::StepOutcome> result;
  };
  /// Computes the loss under autocast, scales it, and takes the step. Skips the step when a gradient is not
  /// finite and the policy skips such steps, as DynamicScaling does.
  Step minimize(const std::function<Tensor()>& loss_of);

  float factor() const { return scaler_.factor(); }  ///< S; waits for the device

 private:
  Optimizer& optimizer_;
  LossScaler scaler_;
  DType format_;
};

}  // namespace tinymp
