#pragma once

#include <lessons/03_accumulation/trainings.h>
#include <tinymp/nn/layers.h>
#include <tinymp/nn/module.h>
#include <tinymp/nn/norm.h>

namespace tinymp::lab {

/// A small convolutional network with batch norm: 128 images of 28 x 28 pixels are 100,352 rows for its first
/// layer.   (B,784) -> 3x3 -> (B,28,28,8) -> pool -> 3x3 -> (B,14,14,16) -> pool -> 784 -> (B,10)
class SmallCnn : public nn::Model {
 public:
  SmallCnn(const Recipe& recipe, Rng& rng, Accumulation sums);
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override;
  std::vector<Tensor> buffers() const override;
  std::string name() const override { return "batch norm cnn 8-16"; }

 private:
  struct Layer {
    Layer(std::int64_t inputs, std::int64_t outputs, const Recipe& recipe, Rng& rng, Accumulation sums);
    Tensor operator()(const Tensor& x) const;
    nn::Conv2d conv;
    nn::BatchNorm norm;
  };
  Layer first_, second_;
  nn::Linear out_;
};

/// 150 steps of 128 images, with a learning rate of 0.05.
train::Plan cnn_plan(Lab& lab, const Curve& curve, std::uint64_t seed);

}  // namespace tinymp::lab
