#include <tinymp/nn/mlp.h>
#include <tinymp/nn/segments.h>

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

Tensor Stack::run_hidden(const Tensor& x, Activation f) const {
  return run_blocks(hidden(), x, [this, f](std::int64_t i, const Tensor& y) {
    return layers[static_cast<std::size_t>(i)](y, f);
  });
}

Tensor Mlp::operator()(const Tensor& images) const {
  const std::vector<Linear>& layers = stack_.layers;
  return layers.back()(stack_.run_hidden(cast(images, layers.front().weight.dtype()), Activation::relu));
}

Tensor Autoencoder::operator()(const Tensor& images) const {
  const std::vector<Linear>& layers = stack_.layers;
  const Tensor x = stack_.run_hidden(cast(images, layers.front().weight.dtype()), Activation::sigmoid);
  return layers.back()(x, Activation::sigmoid);
}

}  // namespace tinymp::nn
