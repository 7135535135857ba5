#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 06 asks beside its curves.
namespace tinymp::lab {

/// Trains the autoencoder with one S after the other, from 1 to 2^28. Shows the window in the terminal, and as a
/// picture in the run's folder. (window.cpp)
void show_window(Lab& lab);

// A loss that is multiplied by S needs two steps before the update: the gradients are divided by S, and clipped
// after that. (order.cpp)

/// Trains a classifier with plain SGD twice: with and without the division of the gradients by S.
void ask_about_division(Lab& lab);

/// Trains the same classifier with clipping after and before the division. Also shows the error of clip_norm
/// when it is called before the division.
void ask_about_clipping(Lab& lab);

}  // namespace tinymp::lab
