#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>

// A step without a check has nothing to tell the scale.
void end_of_step(tinymp::LossScaler& scaler) { scaler.update(); }
