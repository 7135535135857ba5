#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>

// Was any gradient finite? Only unscale() can say: it alone makes a UnscaleResult.
void end_of_step(tinymp::LossScaler& scaler) { scaler.update(tinymp::UnscaleResult{}); }
