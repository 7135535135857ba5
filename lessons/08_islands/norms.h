#pragma once

#include <lessons/08_islands/verdicts.h>
#include <tinymp/nn/layer_norm.h>
#include <tinymp/nn/model.h>

/// The second island of lesson 08: the mean and the variance of layer norm, over the 784 pixels of an image
/// as they come, 0 to 255.
namespace tinymp::lab {

inline const std::string paper = "Dark ink on white paper: may layer norm sum 784 pixels in FP16?";
inline const std::string black = "White ink on black: may layer norm sum 784 pixels in FP16?";

/// Layer norm of the pixels, then 784-128-10.      (B,784) -> (B,10)
class LayerNormMlp : public nn::Model {
 public:
  LayerNormMlp(const Recipe& recipe, Rng& rng, Accumulation sums);
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override;
  std::string name() const override { return "layer norm mlp 784-128-10"; }

 private:
  nn::LayerNorm norm_;
  nn::Linear hidden_, out_;
};

void ask_about_layer_norm(Lab& lab);

}  // namespace tinymp::lab
