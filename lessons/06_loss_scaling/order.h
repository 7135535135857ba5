#pragma once

#include <lessons/06_loss_scaling/small_gradients.h>

/// What else must be in order when the loss is multiplied by S: the division, and clipping after it.
namespace tinymp::lab {

/// A classifier under plain SGD, its gradients divided by S again, or not.
void ask_about_division(Lab& lab);

/// The same classifier with its gradients clipped after the division, or before it; and what clip_norm says
/// to the second.
void ask_about_clipping(Lab& lab);

}  // namespace tinymp::lab
