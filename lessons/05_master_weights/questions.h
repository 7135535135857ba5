#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 05 shows beside its curves.
namespace tinymp::lab {

/// Takes the first steps of fine-tuning from `start`. Shows one weight whose master moves while its half keeps
/// its bits. Counts the weights whose master moves while the half keeps its bits. (waiting_weights.cpp)
void show_waiting_weights(Lab& lab, const nn::Model& start, const Recipe& recipe);

/// A model trains in FP32. Moving averages of its weights are kept in FP32, FP16 and BF16. The 16-bit averages
/// absorb their updates, as FP16 weights do. (averages.cpp)
void ask_about_averages(Lab& lab);

}  // namespace tinymp::lab
