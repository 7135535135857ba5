#pragma once

#include <lessons/06_loss_scaling/autoencoder.h>
#include <string>

/// The three models of lesson 07.
namespace tinymp::lab {

struct Model {
  std::string name;
  double allowed;            ///< how much worse than FP32 still counts as the same
  const char* allowed_text;  ///< ... which is points of accuracy, or for the autoencoder times FP32's MSE
};
inline const Model classifier{"Classifier", 1, "1 point"};
inline const Model residual{"Residual net, 12 blocks", 5, "5 points"};
inline const Model autoencoder{"Autoencoder", 1.05, "5 %"};

inline constexpr const char* skips_all = "FP16, S = 65536, skipping";

/// "FP32", "FP16, S = 1", "FP16, S = 1024", "FP16, dynamic S", and two more for the residual net: the S at
/// which a dynamic one starts, kept, with all steps left out that overflow (`skips_all`); and one in the
/// middle of its window.
std::vector<Contender> contenders(const Lab& lab, const Model& model);

train::Plan plan_for(Lab& lab, const Model& model, const Contender& contender, std::uint64_t seed);

}  // namespace tinymp::lab
