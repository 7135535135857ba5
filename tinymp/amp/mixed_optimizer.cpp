#include <tinymp/amp/mixed_optimizer.h>
#include <tinymp/autograd/tape.h>

namespace tinymp {

MixedOptimizer::Step MixedOptimizer::minimize(const std::function<Tensor()>& loss_of) {
  Tensor loss;
  {
    const Autocast region(format_);
    Tape tape;
    loss = loss_of();
    tape.backward(scaler_.scale(loss));
  }
  Gradients gradients = optimizer_.gradients();
  UnscaleResult check = scaler_.unscale(gradients);
  const DeviceValue<kernels::StepOutcome> result = optimizer_.step(gradients, check);
  scaler_.update(std::move(check));
  optimizer_.zero_grad();
  return {loss, result};
}

}  // namespace tinymp
