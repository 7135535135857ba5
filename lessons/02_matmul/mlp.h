#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <tinymp/nn/linear.h>

/// A network in which one kernel of our choice computes all products, forward and backward.
namespace tinymp::lab {

/// A kernel under emulation: gemm_tiled, matmul_with_barrier, ...
using Kernel = void (*)(const kernels::GemmProblem& problem, kernels::Stream stream);

/// c = op(a) . op(b), all three of FP16.
void multiply(Kernel kernel, const Tensor& a, kernels::Trans ta, const Tensor& b, kernels::Trans tb,
              const Tensor& c);

/// As tinymp::matmul, of FP16 tensors.       (B,O) = (B,I)(I,O)
Tensor matmul_by(Kernel kernel, const Tensor& x, const Tensor& w);

/// 784-64-16 with relu. Tensor cores multiply tiles of 16: the last six classes never occur.
class EmulatedMlp : public nn::Model {
 public:
  EmulatedMlp(Kernel kernel, const Recipe& recipe, Rng& rng)
      : kernel_(kernel), hidden_(784, 64, recipe, rng), out_(64, 16, recipe, rng) {}
  Tensor operator()(const Tensor& images) const override;  // (B,784) -> (B,16)
  std::vector<nn::Parameter> parameters() const override {
    std::vector<nn::Parameter> list = hidden_.parameters("layer 1");
    append(list, {out_.parameters("layer 2")});
    return list;
  }
  std::string name() const override { return "mlp 784-64-16"; }

 private:
  Kernel kernel_;
  nn::Linear hidden_, out_;
};

}  // namespace tinymp::lab
