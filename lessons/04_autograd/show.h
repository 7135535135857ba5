#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 04 shows before it trains.
namespace tinymp::lab {

/// The ops that one training step of the FP16 model records, with the formats of their inputs and outputs.
void show_tape(Lab& lab);

/// Compares the backward of those ops, and of a wrong one, with finite differences in f64.
/// Returns the largest error of the right ones.
double show_gradient_checks(Lab& lab);

/// The slope of rounding to FP16: by finite differences, and by the tape.
void show_gradient_of_cast(Lab& lab);

}  // namespace tinymp::lab
