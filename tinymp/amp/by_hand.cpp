#include <tinymp/amp/by_hand.h>

namespace tinymp {

void cast_layers(const nn::Model& model, DType format) {
  for (const nn::Parameter& p : model.parameters()) {
    const bool of_norm = p.name.ends_with(" gamma") || p.name.ends_with(" beta");
    p.value.round_to(of_norm && is_narrow(format) ? DType::f32 : format);
  }
}

RescaledGrad::RescaledGrad(Optimizer& optimizer, float rescale_grad)
    : optimizer_(optimizer), scaler_(StaticScaling{.factor = 1 / rescale_grad}) {}

DeviceValue<kernels::StepOutcome> RescaledGrad::step() {
  Gradients gradients = optimizer_.gradients();
  UnscaleResult check = scaler_.unscale(gradients);
  const DeviceValue<kernels::StepOutcome> result = optimizer_.step(gradients, check);
  scaler_.update(std::move(check));
  optimizer_.zero_grad();
  return result;
}

}  // namespace tinymp
