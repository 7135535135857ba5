#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/tensor/tensor.h>

/// What lesson 01 shows besides its curves.
namespace tinymp::lab {

/// A dozen numbers as halves: their bits, their values, and their errors.
void show_bits(Lab& lab);

/// One line: what rounding to half does to the values of an FP32 tensor.
void show_rounding(Lab& lab, const char* what, const Tensor& tensor);

}  // namespace tinymp::lab
