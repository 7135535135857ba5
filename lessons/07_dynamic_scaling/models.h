#pragma once

#include <lessons/06_loss_scaling/autoencoder.h>
#include <string>

/// The three models of lesson 07.
namespace tinymp::lab {

struct Model {
  std::string name;
  /// How much worse than FP32 a run may end that still counts as trained: points of accuracy; for the
  /// autoencoder a multiple of FP32's MSE.
  double allowed;
  const char* allowed_text;  ///< the same in words
};
inline const Model classifier{"Classifier", 1, "1 point"};
inline const Model residual{"Residual net, 12 blocks", 5, "5 points"};
inline const Model autoencoder{"Autoencoder", 1.05, "5 %"};

inline constexpr const char* skips_all = "FP16, S = 65536, skipping";

/// "FP32", "FP16, S = 1", "FP16, S = 1024", "FP16, dynamic S". The residual net has two more: `skips_all`, a
/// static S = 65536 that skips every step that overflows, and "FP16, S = 64", which lies inside the window of
/// this net.
std::vector<Contender> contenders(const Lab& lab, const Model& model);

train::Plan plan_for(Lab& lab, const Model& model, const Contender& contender, std::uint64_t seed);

}  // namespace tinymp::lab
