#include <tinymp/amp/by_hand.h>

namespace tinymp {

void cast_layers(const nn::Model& model, DType format) {
  const std::vector<Tensor> parameters = model.parameters();
  const std::vector<std::string> names = model.parameter_names();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool of_norm = names[i].ends_with(" gamma") || names[i].ends_with(" beta");
    parameters[i].round_to(of_norm && is_narrow(format) ? DType::f32 : format);
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
