#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>

// Nobody has looked whether the gradients are finite.
void end_of_step(tinymp::Optimizer& optimizer) {
  tinymp::Gradients gradients = optimizer.gradients();
  optimizer.step(gradients);
}
