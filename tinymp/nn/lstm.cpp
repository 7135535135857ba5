#include <kernels/kernels.h>
#include <tinymp/nn/lstm.h>
#include <tinymp/nn/uniform.h>
#include <cmath>

namespace tinymp::nn {

Lstm::Lstm(std::int64_t inputs, std::int64_t hidden, const Recipe& recipe, Rng& rng)
    : accumulate(recipe.accumulate) {
  expect(inputs > 0 && hidden > 0, "Lstm: ", inputs, " inputs and a width of ", hidden,
         "; both must be above 0");
  const float bound = 1 / std::sqrt(static_cast<float>(hidden));
  from_input = uniform({inputs, 4 * hidden}, bound, recipe.compute, rng);
  from_state = uniform({hidden, 4 * hidden}, bound, recipe.compute, rng);
  bias = Tensor({4 * hidden}, recipe.compute).set_requires_grad(true);
  kernels::fill(bias.view(), 0);
  kernels::fill(bias.slice(hidden, {hidden}).view(), 1);
}

Lstm::State Lstm::step(const Tensor& from_x, const State& before) const {
  const Tensor z = add(from_x, matmul(before.h, from_state, {accumulate}));
  const auto gate = [&](std::int64_t which) { return columns(z, which * hidden(), hidden()); };
  const Tensor i = sigmoid(gate(0)), f = sigmoid(gate(1)), g = tanh(gate(2)), o = sigmoid(gate(3));
  const Tensor c = add(multiply(f, before.c), multiply(i, g));
  return {multiply(o, tanh(c)), c};
}

Tensor Lstm::operator()(const Tensor& x, std::int64_t steps) const {
  expect(x.shape().rank() == 2 && steps > 0 && x.shape()[0] % steps == 0, "Lstm: x", x.shape(),
         " is not texts of ", steps, " steps; it is (B T,I)");
  const std::int64_t texts = x.shape()[0] / steps, width = 4 * hidden();
  const Tensor from_x = reshape(linear(x, from_input, bias, {accumulate}), {texts, steps * width});
  const Tensor nothing({texts, hidden()}, x.dtype(), x.device());
  kernels::fill(nothing.view(), 0);
  State state{nothing, nothing};
  std::vector<Tensor> said;
  for (std::int64_t t = 0; t < steps; ++t) {
    state = step(columns(from_x, t * width, width), state);
    said.push_back(state.h);
  }
  return reshape(concat_columns(said), {texts * steps, hidden()});
}

std::vector<Parameter> Lstm::parameters(const std::string& layer) const {
  return {{layer + " from_input", from_input}, {layer + " from_state", from_state}, {layer + " bias", bias}};
}

}  // namespace tinymp::nn
