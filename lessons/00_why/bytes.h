#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/module.h>

/// What a training step keeps in memory.
namespace tinymp::lab {

struct Bytes {
  double weights = 0, master = 0, gradients = 0, moments = 0;  ///< in the optimizer's arenas
  double activations = 0;  ///< on the tape when the forward pass is over: counted by hand
  double pool = 0;         ///< the same, as the pool of memory measured it
  double parameters = 0;

  double state() const { return weights + master + gradients + moments; }
};

/// One step of ResNet-20 under Adam.
Bytes bytes_of_resnet(Lab& lab, const Recipe& recipe);
/// ... and of the 784-128-10 of the next lessons.
Bytes bytes_of_mlp(Lab& lab, const Recipe& recipe);

/// A table of two recipes, a row for each category.
void show_bytes(Lab& lab, const char* model, const Bytes& f32, const Bytes& mixed);

}  // namespace tinymp::lab
