#include <kernels/kernels.h>
#include <tinymp/autograd/recompute.h>
#include <tinymp/nn/layers.h>
#include <tinymp/nn/segments.h>
#include <tinymp/ops/check.h>
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

Dropout::Dropout(float probability, std::uint64_t of_layer)
    : p(probability), seed(of_layer), step(filled(Shape{}, DType::f64, 0)) {
  expect(p >= 0 && p < 1, "Dropout: p is ", p, "; it is a probability below 1");
}

Tensor Dropout::operator()(const Tensor& x) const {
  return Tape::current() == nullptr ? x : dropout(x, p, seed, next_step(x.device()));
}

Tensor Dropout::next_step(Device device) const {
  return remembered([&] {
    if (step.device() != device) step.move_to(device);
    // Backward reads the step after the count has gone on, so it gets a copy.
    const Tensor now(Shape{}, DType::f64, device), one(Shape{}, DType::f64, device);
    kernels::cast(step.view(), now.view());
    kernels::fill(one.view(), 1);
    kernels::accumulate(one.view(), step.view());
    return now;
  });
}

Lstm::Lstm(std::int64_t inputs, std::int64_t hidden, const Recipe& recipe, Rng& rng)
    : accumulate(recipe.accumulate) {
  expect(inputs > 0 && hidden > 0, "Lstm: ", inputs, " inputs and a width of ", hidden,
         "; both must be above 0");
  const float bound = 1 / std::sqrt(static_cast<float>(hidden));
  from_input = uniform({inputs, 4 * hidden}, bound, recipe.compute, rng);
  from_state = uniform({hidden, 4 * hidden}, bound, recipe.compute, rng);
  bias = filled({4 * hidden}, recipe.compute, 0).set_requires_grad(true);
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
  // What the steps hand on: from_x, the cell, and h after each step.
  const auto next = [this, width](std::int64_t t, const std::vector<Tensor>& before) {
    std::vector<Tensor> after = before;
    const State state = step(columns(before[0], t * width, width), {before.back(), before[1]});
    after[1] = state.c;
    after.push_back(state.h);
    return after;
  };
  std::vector<Tensor> said = run_blocks(steps, {from_x, nothing, nothing}, next);
  said.erase(said.begin(), said.begin() + 3);
  return reshape(concat_columns(said), {texts * steps, hidden()});
}

std::vector<Parameter> Lstm::parameters(const std::string& layer) const {
  return {{layer + " from_input", from_input}, {layer + " from_state", from_state}, {layer + " bias", bias}};
}

}  // namespace tinymp::nn
