#pragma once

#include <lessons/15_many_processes/on_threads.h>
#include <lessons/lab/learn/lab.h>
#include <memory>
#include <string>

/// What lesson 15 asks, and what it trains for an answer.
namespace tinymp::lab {

inline const std::string same = "Four processes: do they train the model of one?",
                         overflow = "FP16 between ranks: does the sum overflow?",
                         underflow = "FP16 between ranks: do small gradients survive?",
                         decision = "Who decides that a step is skipped?",
                         sharded = "Each keeps a part of masters and moments: what changes?",
                         pipelined = "The blocks lie in several ranks: do they train the model of one?";

// Numbers, without training.
/// Sums of gradients in three orders, by 1 to 8 ranks. (order.cpp)
void show_order(Lab& lab);
/// The range of S that a sum in 16 bits leaves, by where it is divided. (window.cpp)
void show_window(Lab& lab);

// Questions, with training.
void ask_same(Lab& lab);                              ///< order.cpp
void ask_overflow(Lab& lab);                          ///< wire.cpp
void ask_underflow(Lab& lab);                         ///< wire.cpp
void ask_decision(Lab& lab);                          ///< decision.cpp
void ask_shards(Lab& lab);                            ///< shards.cpp
void ask_pipeline(Lab& lab, const data::Text& text);  ///< pipeline.cpp
/// The time that two stages wait for one another, by the number of micro-batches. (pipeline.cpp)
void show_bubble(Lab& lab, const data::Text& text);

/// Shakespeare's plays in characters, or nothing where they are not here; with --verify that is a MissingError. (pipeline.cpp)
std::unique_ptr<data::Text> characters(Lab& lab);

}  // namespace tinymp::lab
