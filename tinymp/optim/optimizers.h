#pragma once

#include <tinymp/optim/optimizer.h>

/// The optimizers. kernels/formulas/optimizers.h has their formulas, which CPU and GPU share.
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

/// Loshchilov and Hutter 2019 (arXiv 1711.05101), algorithm 2, as PyTorch writes it: the learning rate multiplies the
/// decay, too. Weight decay acts on the weight directly and is not added to the gradient.
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
