#pragma once

#include <lessons/lab/learn/lab.h>

/// The numbers and the three islands of lesson 08, each in the file of its name.
namespace tinymp::lab {

/// A table of what single ops answer in FP32 and in FP16: the numbers that break an FP16 softmax and an FP16
/// Adam, bit by bit. (bits.cpp)
void show_bits(Lab& lab);

/// A softmax and the loss on it, put together from single ops: each stores its result in the format of the
/// logits. (softmax.cpp)
void ask_about_softmax(Lab& lab);

/// The mean and the variance of layer norm, over the 784 pixels of an image as they come, 0 to 255.
/// (norms.cpp)
void ask_about_layer_norm(Lab& lab);

/// What an optimizer remembers, and its epsilon. (adams.cpp)
void ask_about_adam(Lab& lab);

}  // namespace tinymp::lab
