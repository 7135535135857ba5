#pragma once

#include <lessons/lab/learn/lab.h>

/// The second question of lesson 03: a model that was trained with FP32 accumulators answers with FP16 ones.
namespace tinymp::lab {

/// Over the test set, one value a seed.
struct Answers {
  std::vector<double> f32{}, f16{};  ///< accuracy (%) with either accumulator
  std::vector<double> changed{};     ///< answers that differ between the two, in %
};

/// Evaluates the model that `plan` has trained, then again with an FP16 accumulator in each matrix product
/// and convolution: the same FP16 weights, the same images.
void ask_twice(Lab& lab, const train::Plan& plan, const nn::Model& trained, Answers& answers);

}  // namespace tinymp::lab
