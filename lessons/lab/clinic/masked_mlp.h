#pragma once

#include <tinymp/nn/mlp.h>

namespace tinymp::clinic {

/// An Mlp with more logits than there are classes, as people have it who were told that tensor cores like
/// multiples of eight. What is no class is masked:  logits + (1 - m) x hides,  m = 1 for the classes; the way
/// in which masks of attention are written.
class MaskedMlp : public nn::Model {
 public:
  /// widths: {784, 64, 16} of 10 classes. `hides`: what is added to the other six.
  MaskedMlp(std::vector<std::int64_t> widths, float hides, const Recipe& recipe, Rng& rng);
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override { return net_.parameters(); }
  std::string name() const override { return "masked " + net_.name(); }

 private:
  nn::Mlp net_;
  Tensor m_, hides_;  ///< (C) and (), in the format of the model
};

}  // namespace tinymp::clinic
