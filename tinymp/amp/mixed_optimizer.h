#pragma once

#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizer.h>
#include <functional>

/// Mixed precision by wrapping the optimizer, as TensorFlow 1.14 has it: the FP32 program stays as it is, but
/// for one line.
///
///   Sgd sgd(tensors(model.parameters()), {.lr = 0.1f});
///   MixedOptimizer optimizer(sgd);                     tf...enable_mixed_precision_graph_rewrite(sgd)
///   ...
///   optimizer.minimize([&] { return cross_entropy(model(images), labels); });
///
/// There the rewrite finds the ops in a graph; here there is none, so the loss comes as a function. The other
/// two programs: by_hand.h (MXNet) and autocast.h (PyTorch).
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
  /// Computes the loss under autocast, scales it, and takes the step unless a gradient was not finite.
  Step minimize(const std::function<Tensor()>& loss_of);

  float factor() const { return scaler_.factor(); }  ///< S; waits for the device

 private:
  Optimizer& optimizer_;
  LossScaler scaler_;
  DType format_;
};

}  // namespace tinymp
