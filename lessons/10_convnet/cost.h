#pragma once

#include <lessons/lab/learn/lab.h>

/// What a training step costs: bytes and milliseconds, measured.
namespace tinymp::lab {

/// Steps of ResNet-20 and of an MLP, each in FP32 and in mixed precision, as tables.
void show_cost(Lab& lab);

}  // namespace tinymp::lab
