#pragma once

#include <lessons/lab/learn/lab.h>

/// The experiments of lesson 06 beside its curves.
namespace tinymp::lab {

/// Trains the autoencoder anew for each S, from 1 to 2^28. Shows the window in the terminal, and as a picture in
/// the run's folder. (window.cpp)
void show_window(Lab& lab);

// Loss scaling leaves gradients that are S times too large. The update comes third: first the gradients are divided
// by S, and then they are clipped. (order.cpp)

/// Trains a classifier with plain SGD in three runs: in FP32, in FP16 with the gradients divided by S, and in FP16
/// with the gradients not divided.
void ask_about_division(Lab& lab);

/// Trains the same classifier in three runs: clipped in FP32, clipped after the division, and clipped before the
/// division. Also shows the error that clip_norm throws before the division.
void ask_about_clipping(Lab& lab);

}  // namespace tinymp::lab
