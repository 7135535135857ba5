#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/module.h>
#include <tinymp/optim/optimizer.h>

/// Mixed precision written out, as MXNet has it: the layers are cast, the loss has a weight, and the
/// optimizer divides by it (docs: "Using AMP in MXNet", and before it net.cast).
///
///   cast_layers(net, DType::f16);                                     net.cast("float16")
///   Sgd sgd(tensors(net.parameters()), {.lr = 0.1f}, recipes::fp16_master);    multi_precision=True
///   RescaledGrad trainer(sgd, 1 / S);                                 rescale_grad=1/S
///   ...
///   Tape tape;
///   tape.backward(scale(cross_entropy(net(images), labels), S));      SoftmaxCrossEntropyLoss(weight=S)
///   trainer.step();
///
/// The other two programs: autocast.h (PyTorch) and mixed_optimizer.h (TensorFlow).
namespace tinymp {

/// Rounds every parameter to `format`, but for the gamma and beta of a norm, which stay FP32, as they do in
/// MXNet; an optimizer of such a model wants fp32_norm_parameters in its recipe. Throws Error when one has
/// the parameters already: its masters would not follow.
void cast_layers(const nn::Model& model, DType format);

/// A step whose gradients are multiplied by `rescale_grad`, and not looked at: one that is infinite goes into
/// the weights. For S take a power of two, so that 1 / S is exact.
class RescaledGrad {
 public:
  RescaledGrad(Optimizer& optimizer, float rescale_grad);
  DeviceValue<kernels::StepOutcome> step();  ///< after backward; and forgets the gradients

 private:
  Optimizer& optimizer_;
  LossScaler scaler_;
};

}  // namespace tinymp
