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

kernels::UpdateRule Adam::rule(std::int64_t t) const {
  // 1 - beta^t in double: for small t the difference would lose half its digits in FP32.
  const auto& [_, beta1, beta2, epsilon, weight_decay] = options_;
  return kernels::AdamRule{.lr = learning_rate(),
                           .epsilon = epsilon,
                           .weight_decay = weight_decay,
                           .decoupled = decoupled_,
                           .beta1 = static_cast<float>(beta1),
                           .beta2 = static_cast<float>(beta2),
                           .rest1 = static_cast<float>(1 - beta1),
                           .rest2 = static_cast<float>(1 - beta2),
                           .correction1 = static_cast<float>(1 - integer_power(beta1, t)),
                           .correction2 = static_cast<float>(1 - integer_power(beta2, t))};
}

}  // namespace tinymp
