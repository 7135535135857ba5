#pragma once

#include <tinymp/nn/layers.h>
#include <tinymp/nn/module.h>

namespace tinymp::nn {

/// LeNet-5, LeCun et al. 1998 ("Gradient-based learning applied to document recognition", section II.B), as
/// people build it today: every feature map sees all maps before it; it has relu, max pools, and a linear
/// layer at the end.
///   (B,28,28,1) -> 5x5 -> (28,28,6) -> pool -> (14,14,6) -> 5x5 -> (10,10,16) -> pool -> 400 -> 120 -> 84 ->
///   10
class LeNet : public Model {
 public:
  LeNet(const Recipe& recipe, Rng& rng);
  Tensor operator()(const Tensor& images) const override;  ///< (B,784) -> (B,10) logits
  std::int64_t blocks() const override { return 4; }       ///< its layers but the last
  std::vector<Parameter> parameters() const override;
  std::string name() const override { return "lenet"; }

 private:
  Conv2d first_, second_;
  Linear third_, fourth_, out_;
};

}  // namespace tinymp::nn
