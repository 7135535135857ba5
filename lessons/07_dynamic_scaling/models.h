#pragma once

#include <lessons/06_loss_scaling/autoencoder.h>
#include <string>

/// The three models of lesson 07.
namespace tinymp::lab {

struct Model {
  std::string name;
  /// A run counts as trained if it ends at most this much worse than FP32: points of accuracy, or for the
  /// autoencoder a multiple of FP32's MSE.
  double allowed;
  const char* allowed_text;  ///< `allowed` in words
};
inline const Model classifier{"Classifier", 1, "1 point"};
inline const Model residual{"Residual net, 12 blocks", 5, "5 points"};
inline const Model autoencoder{"Autoencoder", 1.05, "5 %"};

inline constexpr const char* skips_all = "FP16, S = 65536, skipping";

/// Returns "FP32", "FP16, S = 1", "FP16, S = 1024" and "FP16, dynamic S". The residual net has two contenders more.
/// `skips_all` has a static S = 65536 and skips every step that overflows. "FP16, S = 64" has an S inside the window
/// of this net.
std::vector<Contender> contenders(const Lab& lab, const Model& model);

train::Plan plan_for(Lab& lab, const Model& model, const Contender& contender, std::uint64_t seed);

}  // namespace tinymp::lab
