#include <lessons/03_accumulation/cnn.h>

namespace tinymp::lab {

SmallCnn::Layer::Layer(std::int64_t inputs, std::int64_t outputs, const Recipe& recipe, Rng& rng,
                       Accumulation sums)
    : conv({.inputs = inputs, .outputs = outputs, .size = 3, .padding = 1, .bias = false}, recipe, rng),
      norm(outputs, recipe, {.sums = sums}) {}

Tensor SmallCnn::Layer::operator()(const Tensor& x) const { return max_pool2d(relu(norm(conv(x))), 2, 2); }

// The members, and so their weights, are initialised in the order of the header.
SmallCnn::SmallCnn(const Recipe& recipe, Rng& rng, Accumulation sums)
    : first_(1, 8, recipe, rng, sums), second_(8, 16, recipe, rng, sums), out_(784, 10, recipe, rng) {}

Tensor SmallCnn::operator()(const Tensor& images) const {
  const std::int64_t batch = images.shape()[0];
  const Tensor pixels = reshape(cast(images, out_.weight.dtype()), {batch, 28, 28, 1});
  return out_(reshape(second_(first_(pixels)), {batch, 784}));
}

std::vector<nn::Parameter> SmallCnn::parameters() const {
  std::vector<nn::Parameter> list;
  append(list,
         {first_.conv.parameters("first"), first_.norm.parameters("first"), second_.conv.parameters("second"),
          second_.norm.parameters("second"), out_.parameters("out")});
  return list;
}

std::vector<Tensor> SmallCnn::buffers() const {
  return {first_.norm.running_mean, first_.norm.running_variance, second_.norm.running_mean,
          second_.norm.running_variance};
}

train::Plan cnn_plan(Lab& lab, const Curve& curve, std::uint64_t seed) {
  train::Plan plan = plan_for(convolutions, curve, seed);
  plan.model = [sums = curve.sums](const Recipe& recipe, Rng& rng) {
    return std::make_unique<SmallCnn>(recipe, rng, sums);
  };
  plan.optimizer = train::optimizer_of<Sgd>({.lr = 0.05f, .momentum = 0.9f});
  plan.optimizer_name = "sgd lr=0.05 momentum=0.9";
  plan.batch = 128;
  plan.steps = lab.steps(150, 2);
  plan.log_every = 1;
  return plan;
}

}  // namespace tinymp::lab
