#include <tinymp/nn/filled.h>
#include <tinymp/nn/layer_norm.h>

namespace tinymp::nn {

LayerNorm::LayerNorm(std::int64_t width, const Recipe& recipe, LayerNormOptions how) : options(how) {
  expect(width > 0, "LayerNorm: a width of ", width, "; it must be above 0");
  gamma = filled({width}, recipe.compute, 1).set_requires_grad(true);
  beta = filled({width}, recipe.compute, 0).set_requires_grad(true);
}

std::vector<Parameter> LayerNorm::parameters(const std::string& layer) const {
  return {{layer + " gamma", gamma}, {layer + " beta", beta}};
}

}  // namespace tinymp::nn
