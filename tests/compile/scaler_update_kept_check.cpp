#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>

// The check stays behind and could be handed in again: update(std::move(check)).
void end_of_step(tinymp::LossScaler& scaler, tinymp::Optimizer& optimizer) {
  tinymp::Gradients gradients = optimizer.gradients();
  tinymp::UnscaleResult check = scaler.unscale(gradients);
  optimizer.step(gradients, check);
  scaler.update(check);
}
