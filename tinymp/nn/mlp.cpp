#include <tinymp/nn/mlp.h>

namespace tinymp::nn {
namespace {

std::vector<Linear> stack(const std::vector<std::int64_t>& widths, const Recipe& recipe, Rng& rng) {
  expect(widths.size() >= 2, "a model needs at least two widths, its inputs and its outputs");
  std::vector<Linear> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    layers.emplace_back(widths[i], widths[i + 1], recipe, rng);
  return layers;
}

void append(std::vector<Tensor>& parameters, const Linear& layer) {
  parameters.push_back(layer.weight);
  parameters.push_back(layer.bias);
}

std::vector<Tensor> parameters_of(const std::vector<Linear>& layers) {
  std::vector<Tensor> parameters;
  for (const Linear& layer : layers) append(parameters, layer);
  return parameters;
}

/// "784-64-10"
std::string joined(const std::vector<std::int64_t>& widths) {
  std::string text;
  for (const std::int64_t w : widths) text += (text.empty() ? "" : "-") + std::to_string(w);
  return text;
}

Tensor as_input(const Tensor& images, const Linear& layer) { return cast(images, layer.weight.dtype()); }

}  // namespace

Mlp::Mlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng)
    : widths_(std::move(widths)), layers_(stack(widths_, recipe, rng)) {}

Tensor Mlp::operator()(const Tensor& images) const {
  Tensor x = as_input(images, layers_.front());
  for (std::size_t i = 0; i < layers_.size(); ++i) x = i == 0 ? layers_[i](x) : layers_[i](relu(x));
  return x;
}

std::vector<Tensor> Mlp::parameters() const { return parameters_of(layers_); }
std::string Mlp::name() const { return "mlp " + joined(widths_); }

Autoencoder::Autoencoder(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng)
    : widths_(std::move(widths)), layers_(stack(widths_, recipe, rng)) {}

Tensor Autoencoder::operator()(const Tensor& images) const {
  Tensor x = as_input(images, layers_.front());
  for (const Linear& layer : layers_) x = sigmoid(layer(x));
  return x;
}

std::vector<Tensor> Autoencoder::parameters() const { return parameters_of(layers_); }
std::string Autoencoder::name() const { return "autoencoder " + joined(widths_); }

ResidualMlp::ResidualMlp(std::int64_t width, int blocks, const Recipe& recipe, Rng& rng)
    : in_(784, width, recipe, rng, gain_he), out_(in_) {
  for (int i = 0; i < blocks; ++i) {
    Linear first(width, width, recipe, rng, gain_he);
    Linear second(width, width, recipe, rng, gain_he);
    blocks_.push_back({std::move(first), std::move(second)});
  }
  out_ = Linear(width, 10, recipe, rng);
}

Tensor ResidualMlp::operator()(const Tensor& images) const {
  Tensor x = in_(as_input(images, in_));
  for (const Block& block : blocks_) x = add(x, block.second(relu(block.first(x))));
  return out_(relu(x));
}

std::vector<Tensor> ResidualMlp::parameters() const {
  std::vector<Tensor> parameters;
  append(parameters, in_);
  for (const Block& block : blocks_) {
    append(parameters, block.first);
    append(parameters, block.second);
  }
  append(parameters, out_);
  return parameters;
}

std::string ResidualMlp::name() const {
  return "residual mlp " + std::to_string(blocks_.size()) + " blocks of " + std::to_string(in_.bias.size());
}

}  // namespace tinymp::nn
