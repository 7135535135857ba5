#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/numeric/accumulation.h>

/// A look into the batch-normalised hidden layer of lesson 03.
namespace tinymp::lab {

/// Before the first step: mean and deviation of its columns, and of a CNN's first channels, in FP32 and in
/// FP16 sums. Returns the largest error that batch norm with `sums` makes in the mean of a column on white
/// paper, in deviations of that column.
double show_first_batch(Lab& lab, const Accumulation& sums);

/// The first steps with FP16 sums, on white paper: the exact mean of a column, and the mean that batch norm
/// subtracts.
void watch_batch_norm(Lab& lab);

}  // namespace tinymp::lab
