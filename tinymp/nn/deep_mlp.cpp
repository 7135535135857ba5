#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/segments.h>

namespace tinymp::nn {
namespace {

constexpr std::int64_t pixels = 784, classes = 10;  ///< of MNIST and its like

}  // namespace

BatchNormMlp::BatchNormMlp(std::vector<std::int64_t> widths, const Recipe& recipe, Rng& rng,
                           Accumulation sums)
    : stack_(std::move(widths), recipe, rng) {
  for (std::size_t i = 1; i + 1 < stack_.widths.size(); ++i)
    norms_.emplace_back(stack_.widths[i], recipe, BatchNormOptions{.sums = sums});
}

Tensor BatchNormMlp::operator()(const Tensor& images) const {
  const std::vector<Linear>& layers = stack_.layers;
  const Tensor x = layers.front()(cast(images, layers.front().weight.dtype()));
  return run_blocks(blocks(), x, [this](std::int64_t block, const Tensor& y) {
    const auto i = static_cast<std::size_t>(block);
    return stack_.layers[i + 1](relu(norms_[i](y)));
  });
}

std::vector<Parameter> BatchNormMlp::parameters() const {
  std::vector<Parameter> list = stack_.parameters();
  for (std::size_t i = 0; i < norms_.size(); ++i)
    append(list, {norms_[i].parameters(concat("norm ", i + 1))});
  return list;
}

std::vector<Tensor> BatchNormMlp::buffers() const {
  std::vector<Tensor> buffers;
  for (const BatchNorm& norm : norms_) {
    buffers.push_back(norm.running_mean);
    buffers.push_back(norm.running_variance);
  }
  return buffers;
}

// C++ makes the members in the order of the header, and draws their weights in that order.
ResidualMlp::ResidualMlp(std::int64_t width, int blocks, const Recipe& recipe, Rng& rng)
    : in_(pixels, width, recipe, rng, gain_he),
      blocks_(make_blocks(width, blocks, recipe, rng)),
      out_(width, classes, recipe, rng) {}

std::vector<ResidualMlp::Block> ResidualMlp::make_blocks(std::int64_t width, int blocks, const Recipe& recipe,
                                                         Rng& rng) {
  std::vector<Block> made;
  for (int i = 0; i < blocks; ++i) {
    Linear first(width, width, recipe, rng, gain_he);
    Linear second(width, width, recipe, rng, gain_he);
    made.push_back({std::move(first), std::move(second)});
  }
  return made;
}

Tensor ResidualMlp::operator()(const Tensor& images) const {
  const Tensor x = in_(cast(images, in_.weight.dtype()));
  const Tensor y = run_blocks(blocks(), x, [this](std::int64_t i, const Tensor& sum) {
    const Block& block = blocks_[static_cast<std::size_t>(i)];
    return add(sum, block.second(block.first(sum, Activation::relu)));
  });
  return out_(relu(y));
}

std::vector<Parameter> ResidualMlp::parameters() const {
  std::vector<Parameter> list = in_.parameters("in");
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::string block = concat("block ", i + 1);
    append(list,
           {blocks_[i].first.parameters(block + " first"), blocks_[i].second.parameters(block + " second")});
  }
  append(list, {out_.parameters("out")});
  return list;
}

std::string ResidualMlp::name() const {
  return "residual mlp " + std::to_string(blocks_.size()) + " blocks of " + std::to_string(in_.bias.size());
}

}  // namespace tinymp::nn
