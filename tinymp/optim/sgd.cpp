#include <tinymp/optim/options.h>
#include <tinymp/optim/sgd.h>

namespace tinymp {

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

}  // namespace tinymp
