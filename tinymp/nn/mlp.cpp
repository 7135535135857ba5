#include <tinymp/nn/mlp.h>

namespace tinymp::nn {

Stack::Stack(std::vector<std::int64_t> all, const Recipe& recipe, Rng& rng) : widths(std::move(all)) {
  expect(widths.size() >= 2, "a model needs at least two widths, its inputs and its outputs");
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    layers.emplace_back(widths[i], widths[i + 1], recipe, rng);
}

std::vector<Parameter> Stack::parameters() const {
  std::vector<Parameter> list;
  for (std::size_t i = 0; i < layers.size(); ++i)
    append(list, {layers[i].parameters(concat("layer ", i + 1))});
  return list;
}

std::string Stack::name() const {
  std::string text;
  for (const std::int64_t width : widths) text += concat(text.empty() ? "" : "-", width);
  return text;
}

Tensor Mlp::operator()(const Tensor& images) const {
  const std::vector<Linear>& layers = stack_.layers;
  Tensor x = cast(images, layers.front().weight.dtype());
  for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = layers[i](x, Activation::relu);
  return layers.back()(x);
}

Tensor Autoencoder::operator()(const Tensor& images) const {
  Tensor x = cast(images, stack_.layers.front().weight.dtype());
  for (const Linear& layer : stack_.layers) x = layer(x, Activation::sigmoid);
  return x;
}

}  // namespace tinymp::nn
