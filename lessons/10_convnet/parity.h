#pragma once

#include <lessons/10_convnet/runs.h>
#include <vector>

/// Do FP32 and mixed precision end alike? Pairs of runs, and what their differences allow to say.
namespace tinymp::lab {

/// The mean of some numbers, and between what the mean of infinitely many such lies, 95 times of 100:
/// Student's t, for numbers that spread as a bell curve does. At least two.
struct Interval {
  double mean, low, high;
};
Interval interval_of(const std::vector<double>& values);

void ask_about_parity(Lab& lab);
/// The same for 64,000 steps: an hour or many, on a GPU.
void compare_in_full(Lab& lab);

}  // namespace tinymp::lab
