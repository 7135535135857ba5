#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>
#include <utility>

// One check, one step: with a copy, the same step could move the scale twice.
void end_of_step(tinymp::LossScaler& scaler, tinymp::Optimizer& optimizer) {
  tinymp::Gradients gradients = optimizer.gradients();
  tinymp::UnscaleResult check = scaler.unscale(gradients);
  tinymp::UnscaleResult copy = check;
  optimizer.step(gradients, check);
  scaler.update(std::move(copy));
}
