#pragma once

#include <tinymp/nn/linear.h>

/// The model of lesson 04: FP32 weights that are cast to FP16 anew for each step, as autocast does.
namespace tinymp::lab {

enum class Casts : std::uint8_t {
  none,         ///< everything in FP32
  on_the_tape,  ///< weights and images are cast to FP16; backward casts the gradients of the weights back
  one_beside,   ///< the same, but the tape does not record the casts of the first layer
};

/// Linear 784-64, relu, linear 64-10.      (B,784) -> (B,10) logits
class CastMlp : public nn::Model {
 public:
  CastMlp(Casts casts, Rng& rng);
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override {
    std::vector<nn::Parameter> list = first_.parameters("layer 1");
    append(list, {second_.parameters("layer 2")});
    return list;
  }
  std::string name() const override { return "cast mlp 784-64-10"; }

 private:
  Casts casts_;
  nn::Linear first_, second_;
};

/// x rounded to another format, and not recorded on the tape: the same values, and no backward.
Tensor rounded_beside_the_tape(const Tensor& x, DType dtype);

}  // namespace tinymp::lab
