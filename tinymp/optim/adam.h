#pragma once

#include <tinymp/optim/optimizer.h>

namespace tinymp {

/// Kingma and Ba 2015 (arXiv 1412.6980), algorithm 1. Weight decay is added to the gradient.
class Adam : public Optimizer {
 public:
  struct Options {
    float lr = 1e-3f;
    double beta1 = 0.9;
    double beta2 = 0.999;
    float epsilon = 1e-8f;
    float weight_decay = 0;
  };
  Adam(std::vector<Tensor> parameters, Options options, const Recipe& recipe = {});

 protected:
  Adam(const char* name, std::vector<Tensor> parameters, Options options, const Recipe& recipe,
       bool decoupled);

 private:
  kernels::UpdateRule rule() const override;
  Options options_;
  bool decoupled_;
};

/// Loshchilov and Hutter 2019 (arXiv 1711.05101), algorithm 2: weight decay acts on the weight, beside the
/// gradient.
class AdamW : public Adam {
 public:
  struct Options {
    float lr = 1e-3f;
    double beta1 = 0.9;
    double beta2 = 0.999;
    float epsilon = 1e-8f;
    float weight_decay = 0.01f;
  };
  AdamW(std::vector<Tensor> parameters, Options options, const Recipe& recipe = {});
};

}  // namespace tinymp
