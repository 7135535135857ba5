#include <tinymp/optim/adagrad.h>
#include <tinymp/optim/options.h>

namespace tinymp {

Adagrad::Adagrad(std::vector<Tensor> parameters, Options options, const Recipe& recipe)
    : Optimizer("Adagrad", std::move(parameters), options.lr, 1, recipe), options_(options) {
  expect_not_negative("Adagrad: epsilon", options.epsilon);
  expect_not_negative("Adagrad: weight_decay", options.weight_decay);
}

kernels::UpdateRule Adagrad::rule() const {
  return kernels::AdagradRule{options_.epsilon, options_.weight_decay};
}

}  // namespace tinymp
