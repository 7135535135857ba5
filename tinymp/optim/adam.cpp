#include <tinymp/optim/adam.h>
#include <tinymp/optim/options.h>

namespace tinymp {
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
