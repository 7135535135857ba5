#pragma once

#include <lessons/15_many_processes/on_threads.h>
#include <lessons/lab/learn/lab.h>
#include <string>

/// What lesson 15 asks, and what it trains for an answer.
namespace tinymp::lab {

inline const std::string same = "Four processes: do they train the model of one?";

// Numbers, without training.
/// Sums of gradients in three orders, by 1 to 8 ranks. (order.cpp)
void show_order(Lab& lab);

// Questions, with training.
void ask_same(Lab& lab);  ///< order.cpp

}  // namespace tinymp::lab
