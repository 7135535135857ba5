#pragma once

#include <lessons/lab/learn/lab.h>

/// The numbers that break an FP16 softmax and an FP16 Adam, bit by bit.
namespace tinymp::lab {

/// A table of what single ops answer in FP32 and in FP16. Claims what the chapter says of it.
void show_bits(Lab& lab);

}  // namespace tinymp::lab
