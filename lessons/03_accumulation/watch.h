#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/numeric/accumulation.h>

/// A look into the batch-normalised hidden layer of lesson 03.
namespace tinymp::lab {

/// Before the first step: mean and deviation of its columns, and of a CNN's first channels, and what FP16
/// sums make of them. Returns how far batch norm with `sums` is off the mean of a column of white paper at
/// most, in deviations of that column.
double show_first_batch(Lab& lab, const Accumulation& sums);

/// The first steps with FP16 sums, on white paper: the mean that batch norm ought to subtract, and the one
/// that it does.
void watch_batch_norm(Lab& lab);

}  // namespace tinymp::lab
