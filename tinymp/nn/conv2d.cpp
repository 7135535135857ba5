#include <tinymp/nn/conv2d.h>
#include <tinymp/nn/uniform.h>
#include <cmath>

namespace tinymp::nn {

Conv2d::Conv2d(const Sizes& sizes, const Recipe& recipe, Rng& rng, float gain)
    : options{.stride = sizes.stride, .padding = sizes.padding, .accumulate = recipe.accumulate} {
  expect(sizes.inputs > 0 && sizes.outputs > 0 && sizes.size > 0, "Conv2d: ", sizes.inputs, " inputs, ",
         sizes.outputs, " outputs and a window of ", sizes.size, "; all must be above 0");
  const float bound = 1 / std::sqrt(static_cast<float>(sizes.size * sizes.size * sizes.inputs));
  weight = uniform({sizes.size, sizes.size, sizes.inputs, sizes.outputs}, gain * bound, recipe.compute, rng);
  if (sizes.bias) bias = uniform({sizes.outputs}, bound, recipe.compute, rng);
}

Tensor Conv2d::operator()(const Tensor& x) const {
  return bias ? conv2d(x, weight, bias, options) : conv2d(x, weight, options);
}

std::vector<Parameter> Conv2d::parameters(const std::string& layer) const {
  std::vector<Parameter> list{{layer + " weight", weight}};
  if (bias) list.push_back({layer + " bias", bias});
  return list;
}

}  // namespace tinymp::nn
