#include <tinymp/optim/optimizers.h>
#include <cmath>
#include <string_view>

namespace tinymp {
namespace {

void expect_not_negative(std::string_view what, double value) {
  expect(std::isfinite(value) && value >= 0, what, " is ", value, "; it must be a finite number, 0 or above");
}

void expect_fraction(std::string_view what, double value) {
  expect(value >= 0 && value < 1, what, " is ", value, "; it must be at least 0 and below 1");
}

}  // namespace

Sgd::Sgd(std::vector<Tensor> parameters, Options options, const Recipe& recipe)
    : Optimizer("Sgd", std::move(parameters), options.lr, options.momentum != 0 ? 1 : 0, recipe),
      options_(options) {
  expect_fraction("Sgd: momentum", options.momentum);
  expect_not_negative("Sgd: weight_decay", options.weight_decay);
}

kernels::UpdateRule Sgd::rule() const {
  const auto& [_, momentum, weight_decay] = options_;
  if (momentum == 0) return kernels::SgdRule<false>{momentum, weight_decay};
  return kernels::SgdRule<true>{momentum, weight_decay};
}

Adagrad::Adagrad(std::vector<Tensor> parameters, Options options, const Recipe& recipe)
    : Optimizer("Adagrad", std::move(parameters), options.lr, 1, recipe), options_(options) {
  expect_not_negative("Adagrad: epsilon", options.epsilon);
  expect_not_negative("Adagrad: weight_decay", options.weight_decay);
}

kernels::UpdateRule Adagrad::rule() const {
  return kernels::AdagradRule{options_.epsilon, options_.weight_decay};
}

Adam::Adam(std::vector<Tensor> parameters, Options options, const Recipe& recipe)
    : Adam("Adam", std::move(parameters), options, recipe, false) {}

AdamW::AdamW(std::vector<Tensor> parameters, Options options, const Recipe& recipe)
    : Adam("AdamW", std::move(parameters),
           {options.lr, options.beta1, options.beta2, options.epsilon, options.weight_decay}, recipe, true) {}

Adam::Adam(const char* name, std::vector<Tensor> parameters, Options options, const Recipe& recipe,
           bool decoupled)
    : Optimizer(name, std::move(parameters), options.lr, 2, recipe),
      options_(options),
      decoupled_(decoupled) {
  expect_fraction(concat(name, ": beta1"), options.beta1);
  expect_fraction(concat(name, ": beta2"), options.beta2);
  expect_not_negative(concat(name, ": epsilon"), options.epsilon);
  expect_not_negative(concat(name, ": weight_decay"), options.weight_decay);
}

kernels::UpdateRule Adam::rule() const {
  const auto& [_, beta1, beta2, epsilon, weight_decay] = options_;
  if (decoupled_) return kernels::adam_rule<true>(beta1, beta2, epsilon, weight_decay);
  return kernels::adam_rule<false>(beta1, beta2, epsilon, weight_decay);
}

}  // namespace tinymp
