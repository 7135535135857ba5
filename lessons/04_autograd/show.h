#pragma once

#include <lessons/lab/learn/lab.h>

/// What lesson 04 shows before it trains.
namespace tinymp::lab {

/// The ops that one training step of the FP16 model writes down, with the formats that go in and come out.
void show_tape(Lab& lab);

/// Backward of the ops on that tape against differences, in f64: the right ones, and one that is wrong.
/// Returns the largest error of the right ones.
double show_gradient_checks(Lab& lab);

/// What differences say of rounding to FP16, and what the tape says.
void show_gradient_of_cast(Lab& lab);

}  // namespace tinymp::lab
