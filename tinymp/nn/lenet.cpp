#include <tinymp/nn/lenet.h>
#include <tinymp/nn/segments.h>

namespace tinymp::nn {

// C++ makes the members in the order of the header, and draws their weights in that order.
LeNet::LeNet(const Recipe& recipe, Rng& rng)
    : first_({.inputs = 1, .outputs = 6, .size = 5, .padding = 2}, recipe, rng),
      second_({.inputs = 6, .outputs = 16, .size = 5}, recipe, rng),
      third_(400, 120, recipe, rng),
      fourth_(120, 84, recipe, rng),
      out_(84, 10, recipe, rng) {}

Tensor LeNet::operator()(const Tensor& images) const {
  const std::int64_t batch = images.shape()[0];
  const Tensor pixels = reshape(cast(images, first_.weight.dtype()), {batch, 28, 28, 1});
  return out_(run_blocks(blocks(), pixels, [this, batch](std::int64_t i, const Tensor& x) {
    // relu of the largest value is the largest value of relu, and costs a quarter of the work.
    if (i < 2) return relu(max_pool2d((i == 0 ? first_ : second_)(x), 2, 2));
    return i == 2 ? third_(reshape(x, {batch, 400}), Activation::relu) : fourth_(x, Activation::relu);
  }));
}

std::vector<Parameter> LeNet::parameters() const {
  std::vector<Parameter> list = first_.parameters("layer 1");
  append(list, {second_.parameters("layer 2"), third_.parameters("layer 3"), fourth_.parameters("layer 4"),
                out_.parameters("layer 5")});
  return list;
}

}  // namespace tinymp::nn
