#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

/// The four optimizers in float64, straight from their papers, one parameter after the other, with PyTorch's
/// conventions where papers leave a choice (bias correction, where epsilon and weight decay enter).
/// reference_optimizers_test holds them to 100 recorded steps of torch.optim in float64; they are then the
/// oracle of the library's optimizers.
namespace tinymp::test {

struct ReferenceOptions {
  std::string kind;  ///< sgd, adam, adamw, adagrad
  double lr = 0;
  double momentum = 0;
  double weight_decay = 0;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
};

class ReferenceOptimizer {
 public:
  ReferenceOptimizer(ReferenceOptions options, std::vector<double> weights)
      : options_(std::move(options)), w_(std::move(weights)), first_(w_.size()), second_(w_.size()) {}

  const std::vector<double>& weights() const { return w_; }

  void step(const std::vector<double>& gradients) {
    ++t_;
    for (std::size_t i = 0; i < w_.size(); ++i) {
      if (options_.kind == "sgd") sgd(i, gradients[i]);
      if (options_.kind == "adam") adam(i, gradients[i] + options_.weight_decay * w_[i]);
      if (options_.kind == "adamw") adamw(i, gradients[i]);
      if (options_.kind == "adagrad") adagrad(i, gradients[i]);
    }
  }

 private:
  // Polyak's heavy ball: v = momentum v + g, w -= lr v; the first v is g.
  void sgd(std::size_t i, double g) {
    g += options_.weight_decay * w_[i];
    first_[i] = options_.momentum * first_[i] + g;
    w_[i] -= options_.lr * first_[i];
  }

  // Kingma and Ba 2015 (arXiv 1412.6980), algorithm 1.
  void adam(std::size_t i, double g) {
    first_[i] = options_.beta1 * first_[i] + (1 - options_.beta1) * g;
    second_[i] = options_.beta2 * second_[i] + (1 - options_.beta2) * g * g;
    const double mean = first_[i] / (1 - std::pow(options_.beta1, t_));
    const double square = second_[i] / (1 - std::pow(options_.beta2, t_));
    w_[i] -= options_.lr * mean / (std::sqrt(square) + options_.eps);
  }

  // Loshchilov and Hutter 2019 (arXiv 1711.05101), algorithm 2: the decay goes past the moments.
  void adamw(std::size_t i, double g) {
    w_[i] -= options_.lr * options_.weight_decay * w_[i];
    adam(i, g);
  }

  // Duchi, Hazan and Singer 2011 (JMLR 12), the diagonal form.
  void adagrad(std::size_t i, double g) {
    g += options_.weight_decay * w_[i];
    second_[i] += g * g;
    w_[i] -= options_.lr * g / (std::sqrt(second_[i]) + options_.eps);
  }

  ReferenceOptions options_;
  std::vector<double> w_;
  std::vector<double> first_;
  std::vector<double> second_;
  int t_ = 0;
};

}  // namespace tinymp::test
