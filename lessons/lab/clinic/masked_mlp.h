#pragma once

#include <tinymp/nn/mlp.h>

namespace tinymp::clinic {

/// An Mlp with more logits than classes, as people build it who have heard that tensor cores like multiples
/// of eight. A mask hides the logits that are no class, written like the masks of attention: logits + (1 - m)
/// x hides, m = 1 for the classes.
class MaskedMlp : public nn::Model {
 public:
  /// widths: {784, 64, 16}, of which 10 are classes. `hides` is added to the other six logits.
  MaskedMlp(std::vector<std::int64_t> widths, float hides, const Recipe& recipe, Rng& rng);
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override { return net_.parameters(); }
  std::string name() const override { return "masked " + net_.name(); }

 private:
  nn::Mlp net_;
  Tensor m_, hides_;  ///< shapes (C) and (), in the format of the model
};

}  // namespace tinymp::clinic
