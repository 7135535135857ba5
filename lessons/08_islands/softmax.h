#pragma once

#include <lessons/08_islands/verdicts.h>
#include <span>

/// The first island of lesson 08: a softmax and the loss on it, put together from single ops. Each op stores
/// its result in the format of the logits y:(B,C).
namespace tinymp::lab {

inline const std::string softmaxes = "May a softmax be computed in FP16?";

/// -log(exp(y) / sum of exp(y)), as it is defined.
Tensor naive_loss(const Tensor& y, std::span<const std::int32_t> labels);
/// The same with the largest y of a row subtracted from the row first: no exp is above 1.
Tensor shifted_loss(const Tensor& y, std::span<const std::int32_t> labels);
/// log(sum of exp(y)) - y[label], shifted too: nothing is divided, and the log sees no share but a sum.
Tensor log_sum_exp_loss(const Tensor& y, std::span<const std::int32_t> labels);

/// Trains all variants on every seed, gives the verdict, prints where the first NaN came from.
void ask_about_softmax(Lab& lab);

}  // namespace tinymp::lab
