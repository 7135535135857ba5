#pragma once

#include <lessons/lab/learn/lab.h>

namespace tinymp::lab {

/// A moving average of the weights of a model that trains in FP32, kept in FP32, FP16 and BF16: the same
/// absorption without an optimizer.
void ask_about_averages(Lab& lab);

}  // namespace tinymp::lab
