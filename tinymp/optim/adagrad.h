#pragma once

#include <tinymp/optim/optimizer.h>

namespace tinymp {

/// Duchi, Hazan and Singer 2011 (JMLR 12):  g += weight_decay w;  s += g^2;  w -= lr g / (sqrt(s) + epsilon).
class Adagrad : public Optimizer {
 public:
  struct Options {
    float lr = 0.01f;
    float epsilon = 1e-10f;
    float weight_decay = 0;
  };
  Adagrad(std::vector<Tensor> parameters, Options options, const Recipe& recipe = {});

 private:
  kernels::UpdateRule rule() const override;
  Options options_;
};

}  // namespace tinymp
