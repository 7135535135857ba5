#pragma once

#include <lessons/09_autocast/verdicts.h>
#include <tinymp/amp/autocast_lists.h>
#include <span>

/// The first question of lesson 09: a loss that is written as single ops, under the lists and under others.
namespace tinymp::lab {

inline const std::string lists_of_loss = "May the ops of a loss stand on the FP16 list?";

/// -log(exp(y) / sum of exp(y)), as it is defined, without a word about formats.
Tensor plain_loss(const Tensor& y, std::span<const std::int32_t> labels);

void ask_about_the_loss(Lab& lab);

}  // namespace tinymp::lab
