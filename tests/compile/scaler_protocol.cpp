#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>
#include <utility>

// unscale gives a check; step reads it; update takes it.
void end_of_step(tinymp::LossScaler& scaler, tinymp::Optimizer& optimizer) {
  tinymp::Gradients gradients = optimizer.gradients();
  tinymp::UnscaleResult check = scaler.unscale(gradients);
  optimizer.step(gradients, check);
  scaler.update(std::move(check));
}
