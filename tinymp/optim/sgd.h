#pragma once

#include <tinymp/optim/optimizer.h>

namespace tinymp {

/// Stochastic gradient descent:  g += weight_decay w;  v = momentum v + g;  w -= lr v.
class Sgd : public Optimizer {
 public:
  struct Options {
    float lr = 0.1f;
    float momentum = 0;
    float weight_decay = 0;
  };
  Sgd(std::vector<Tensor> parameters, Options options, const Recipe& recipe = {});

 private:
  kernels::UpdateRule rule() const override;
  Options options_;
};

}  // namespace tinymp
