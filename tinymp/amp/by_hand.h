#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/module.h>
#include <tinymp/optim/optimizer.h>

/// Mixed precision written out, as in MXNet (docs: "Using AMP in MXNet"). The program casts the layers and
/// multiplies the loss by S, which MXNet calls the weight of the loss. The optimizer divides the gradients by
/// S. Left: tinymp. Right: the same in MXNet.
///
///   cast_layers(net, DType::f16);                                     net.cast("float16")
///   Sgd sgd(tensors(net.parameters()), {.lr = 0.1f}, recipes::fp16_master);    multi_precision=True
///   RescaledGrad trainer(sgd, 1 / S);                                 rescale_grad=1/S
///   ...
///   Tape tape;
///   tape.backward(scale(cross_entropy(net(images), labels), S));      SoftmaxCrossEntropyLoss(weight=S)
///   trainer.step();
///
/// autocast.h shows this program in the style of PyTorch, mixed_optimizer.h in the style of TensorFlow.
namespace tinymp {

/// Rounds the parameters to `format`. When `format` is narrow, the gamma and beta of a normalisation layer stay FP32,
/// as in MXNet's BatchNorm. The recipe of the optimizer must then set fp32_norm_parameters. Throws Error when the parameters
/// belong to an optimizer already: cast_layers() would not change the optimizer's masters.
void cast_layers(const nn::Model& model, DType format);

/// Takes optimizer steps with the gradients multiplied by `rescale_grad`, which is 1 / S. No step is skipped:
/// an infinite gradient goes into the weights. Choose a power of two for S, so that 1 / S is exact.
class RescaledGrad {
 public:
  RescaledGrad(Optimizer& optimizer, float rescale_grad);
  DeviceValue<kernels::StepOutcome> step();  ///< call step() after backward; it forgets the gradients

 private:
  Optimizer& optimizer_;
  LossScaler scaler_;
};

}  // namespace tinymp
