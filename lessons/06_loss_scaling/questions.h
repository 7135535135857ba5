#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 06 asks beside its curves.
namespace tinymp::lab {

/// The autoencoder with one S after the other, from 1 to 2^28: its window, in the terminal and as a picture
/// in the run's folder. (window.cpp)
void show_window(Lab& lab);

// What else must be in order when the loss is multiplied by S: the division, and clipping after it.
// (order.cpp)

/// A classifier under plain SGD, its gradients divided by S again, or not.
void ask_about_division(Lab& lab);

/// The same classifier with its gradients clipped after the division, or before it; and what clip_norm says
/// to the second.
void ask_about_clipping(Lab& lab);

}  // namespace tinymp::lab
