#pragma once

#include <tinymp/nn/layers.h>
#include <tinymp/nn/module.h>

namespace tinymp::clinic {

/// An Mlp with two last layers, of which one runs at a time: the other has no activations, no errors and no gradients in that
/// step. So are an early exit, a head for a second task, and an expert that gets no token.
class TwoHeads : public nn::Model {
 public:
  /// widths: {784, 64, 10}.
  TwoHeads(const std::vector<std::int64_t>& widths, const Recipe& recipe, Rng& rng);
  /// The second head gives the logits from now on, or the first, as at the beginning.
  void use_second(bool second) { second_ = second; }
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override;
  std::string name() const override;

 private:
  std::vector<std::int64_t> widths_;
  nn::Linear body_, first_head_, second_head_;
  bool second_ = false;
};

}  // namespace tinymp::clinic
