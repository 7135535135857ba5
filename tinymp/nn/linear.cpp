#include <tinymp/nn/linear.h>
#include <cmath>

namespace tinymp::nn {

Linear::Linear(std::int64_t inputs, std::int64_t outputs, const Recipe& recipe, Rng& rng, float gain)
    : accumulate(recipe.accumulate) {
  expect(inputs > 0 && outputs > 0, "Linear: ", inputs, " inputs and ", outputs,
         " outputs; both must be above 0");
  const float bound = 1 / std::sqrt(static_cast<float>(inputs));
  weight = uniform({inputs, outputs}, gain * bound, recipe.compute, rng);
  bias = uniform({outputs}, bound, recipe.compute, rng);
}

std::vector<Parameter> Linear::parameters(const std::string& layer) const {
  return {{layer + " weight", weight}, {layer + " bias", bias}};
}

}  // namespace tinymp::nn
