#pragma once

#include <lessons/06_loss_scaling/small_gradients.h>

namespace tinymp::lab {

/// The autoencoder with one S after the other, from 1 to 2^28: its window, in the terminal and as a picture
/// in the run's folder.
void show_window(Lab& lab);

}  // namespace tinymp::lab
