#pragma once

#include <lessons/learn/experiments.h>
#include <string>

/// The three models of lesson 07.
namespace tinymp::lab {

struct Model {
  std::string name;
  double allowed;        ///< how much worse than FP32 still counts as the same
  const char* in_words;  ///< ... which is points of accuracy, or for the autoencoder times FP32's MSE
};
inline const Model classifier{"Classifier", 1, "1 point"};
inline const Model residual{"Residual net, 12 blocks", 5, "5 points"};
inline const Model autoencoder{"Autoencoder", 1.05, "5 %"};

train::Plan plan_for(Lab& lab, const Model& model, const Contender& contender, std::uint64_t seed);

}  // namespace tinymp::lab
