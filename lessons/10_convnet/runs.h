#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/numeric/accumulation.h>
#include <string>

/// The trainings of lesson 10: one network and one schedule.
namespace tinymp::lab {

inline const std::string parity = "ResNet-20: does mixed precision cost accuracy?";
inline const std::string all_fp16 = "What if nothing is left in FP32?";
inline const std::string scale = "Does a classifier need a loss scale?";

/// A curve: its recipe, and how batch norm sums.
struct Variant {
  const char* name;
  Recipe recipe{};
  Accumulation sums{};
};
Variant fp32();
/// FP16 weights and activations, FP32 masters and statistics, dynamic S. Sabotage: FP16 statistics.
Variant mixed(const Lab& lab);

/// 200 steps of 128 images: SGD 0.1, momentum 0.9, 10 steps of warm-up, cosine to zero.
train::Plan plan_of(Lab& lab, const std::string& question, const Variant& variant, std::uint64_t seed);

/// Has a forward pass of it given an infinity, or NaN?
bool overflows_forward(const train::Run& run);

}  // namespace tinymp::lab
