#pragma once

#include <lessons/05_master_weights/small_updates.h>

namespace tinymp::lab {

/// The first steps of fine-tuning from `start`: the master of one weight moves while its half keeps its bits.
/// Counts the weights of which that is true.
void watch_master(Lab& lab, const nn::Model& start, const Recipe& recipe);

}  // namespace tinymp::lab
