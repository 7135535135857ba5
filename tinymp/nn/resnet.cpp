#include <tinymp/nn/resnet.h>
#include <tinymp/nn/segments.h>

namespace tinymp::nn {
namespace {

constexpr std::int64_t widths[] = {16, 32, 64}, cifar_classes = 10;

}  // namespace

ResNet::Layer::Layer(std::int64_t inputs, std::int64_t outputs, std::int64_t stride, const Recipe& recipe,
                     Rng& rng, BatchNormOptions norms)
    : conv({.inputs = inputs, .outputs = outputs, .size = 3, .stride = stride, .padding = 1, .bias = false},
           recipe, rng, gain_he),
      norm(outputs, recipe, norms) {}

std::vector<Parameter> ResNet::Layer::parameters(const std::string& layer) const {
  std::vector<Parameter> list = conv.parameters(layer);
  append(list, {norm.parameters(layer)});
  return list;
}

ResNet::Block::Block(std::int64_t inputs, std::int64_t outputs, std::int64_t stride, const Recipe& recipe,
                     Rng& rng, BatchNormOptions norms)
    : first(inputs, outputs, stride, recipe, rng, norms), second(outputs, outputs, 1, recipe, rng, norms) {}

Tensor ResNet::Block::operator()(const Tensor& x) const {
  const Tensor y = second(relu(first(x)));
  const bool same = y.shape() == x.shape();
  const Tensor shortcut = same ? x : subsample(x, first.conv.options.stride, y.shape()[3]);
  return relu(add(shortcut, y));
}

// C++ makes the members in the order of the header, and draws their weights in that order.
ResNet::ResNet(int blocks_of_a_stage, const Images& images, const Recipe& recipe, Rng& rng,
               BatchNormOptions norms)
    : images_(images),
      in_(images.channels, widths[0], 1, recipe, rng, norms),
      blocks_(make_blocks(blocks_of_a_stage, recipe, rng, norms)),
      out_(widths[2], cifar_classes, recipe, rng) {
  expect(blocks_of_a_stage > 0 && images.size > 0, "ResNet: ", blocks_of_a_stage,
         " blocks a stage, for images of size ", images.size, "; both must be above 0");
}

std::vector<ResNet::Block> ResNet::make_blocks(int of_a_stage, const Recipe& recipe, Rng& rng,
                                               BatchNormOptions norms) {
  std::vector<Block> made;
  std::int64_t before = widths[0];
  for (const std::int64_t width : widths) {
    for (int i = 0; i < of_a_stage; ++i) {
      made.emplace_back(before, width, before == width ? 1 : 2, recipe, rng, norms);
      before = width;
    }
  }
  return made;
}

Tensor ResNet::operator()(const Tensor& images) const {
  const Shape shape{images.shape()[0], images_.size, images_.size, images_.channels};
  const Tensor pixels = reshape(cast(images, out_.weight.dtype()), shape);
  return out_(global_avg_pool2d(run_blocks(blocks(), pixels, [this](std::int64_t i, const Tensor& x) {
    return i == 0 ? relu(in_(x)) : blocks_[static_cast<std::size_t>(i - 1)](x);
  })));
}

std::vector<const ResNet::Layer*> ResNet::layers() const {
  std::vector<const Layer*> all{&in_};
  for (const Block& block : blocks_) {
    all.push_back(&block.first);
    all.push_back(&block.second);
  }
  return all;
}

std::vector<Parameter> ResNet::parameters() const {
  std::vector<Parameter> list = in_.parameters("in");
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::string block = concat("block ", i + 1);
    append(list,
           {blocks_[i].first.parameters(block + " first"), blocks_[i].second.parameters(block + " second")});
  }
  append(list, {out_.parameters("out")});
  return list;
}

std::vector<Tensor> ResNet::buffers() const {
  std::vector<Tensor> buffers;
  for (const Layer* layer : layers()) {
    buffers.push_back(layer->norm.running_mean);
    buffers.push_back(layer->norm.running_variance);
  }
  return buffers;
}

std::string ResNet::name() const { return "resnet" + std::to_string(2 * blocks_.size() + 2); }

}  // namespace tinymp::nn
