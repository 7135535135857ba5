#include <kernels/kernels.h>
#include <tinymp/autograd/cast_policy.h>
#include <tinymp/nn/module.h>

namespace tinymp::nn {

std::vector<std::string> Module::parameter_names() const {
  std::vector<std::string> names;
  int layer = 0;
  for (const Tensor& p : parameters()) {
    const bool is_weight = p.shape().rank() > 1;
    layer += is_weight || layer == 0;
    names.push_back(concat("layer ", layer, is_weight ? " weight" : " bias"));
  }
  return names;
}

void copy_parameters(const Module& from, const Module& to) {
  const std::vector<Tensor> source = from.parameters(), target = to.parameters();
  expect(source.size() == target.size(), "copy_parameters: ", from.name(), " and ", to.name(), " differ");
  for (std::size_t i = 0; i < source.size(); ++i) {
    expect(source[i].shape() == target[i].shape(), "copy_parameters: ", source[i].shape(), " into ",
           target[i].shape());
    expect(
        !target[i].bound_grad(), "copy_parameters: ", to.name(),
        " belongs to an optimizer, whose master copy would not follow; copy before making the optimizer, or "
        "use Optimizer::restore");
  }
  const std::vector<Tensor> kept = from.buffers(), replaced = to.buffers();
  expect(kept.size() == replaced.size(), "copy_parameters: ", from.name(), " and ", to.name(), " differ");
  const auto copy = [](const Tensor& x, const Tensor& y) {
    kernels::cast(x.to(y.device()).view(), y.view());
  };
  for (std::size_t i = 0; i < source.size(); ++i) copy(source[i], target[i]);
  for (std::size_t i = 0; i < kept.size(); ++i) copy(kept[i], replaced[i]);
  parameters_changed();
}

void move_to(const Module& model, Device device) {
  for (const Tensor& p : model.parameters()) p.move_to(device);
  for (const Tensor& b : model.buffers()) b.move_to(device);
}

}  // namespace tinymp::nn
