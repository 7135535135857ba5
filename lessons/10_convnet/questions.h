#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 10 asks.
namespace tinymp::lab {

/// What a training step costs, measured: bytes and milliseconds of ResNet-20 and of an MLP, each in FP32 and
/// in mixed precision. (cost.cpp)
void show_cost(Lab& lab);

// Do FP32 and mixed precision end alike? Pairs of runs, and what their differences allow to say. (parity.cpp)
void ask_about_parity(Lab& lab);
/// The same for 64,000 steps, on a GPU.
void compare_in_full(Lab& lab);

// What is trained beside the pairs. (runs.cpp)
/// Weights, updates and statistics in FP16 too: alone, and the statistics by themselves.
void ask_about_all_fp16(Lab& lab);
/// Mixed precision with S = 1, and how many gradients FP16 flushes then.
void ask_about_scale(Lab& lab);

}  // namespace tinymp::lab
