#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 05 shows beside its curves.
namespace tinymp::lab {

/// The first steps of fine-tuning from `start`: the master of one weight moves while its half keeps its bits.
/// Counts the weights of which that is true. (waiting_weights.cpp)
void show_waiting_weights(Lab& lab, const nn::Model& start, const Recipe& recipe);

/// A moving average of the weights of a model that trains in FP32, kept in FP32, FP16 and BF16: the same
/// absorption without an optimizer. (averages.cpp)
void ask_about_averages(Lab& lab);

}  // namespace tinymp::lab
