#include <kernels/kernels.h>
#include <tinymp/nn/module.h>
#include <atomic>
#include <map>

namespace tinymp {
namespace {

std::atomic<std::uint64_t> changes = 0;

}  // namespace

void parameters_changed() { changes.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t parameter_changes() { return changes.load(std::memory_order_relaxed); }

namespace nn {

std::vector<Tensor> tensors(const std::vector<Parameter>& parameters) {
  std::vector<Tensor> values;
  for (const Parameter& p : parameters) values.push_back(p.value);
  return values;
}

void append(std::vector<Parameter>& list, std::initializer_list<std::vector<Parameter>> layers) {
  for (const std::vector<Parameter>& layer : layers) list.insert(list.end(), layer.begin(), layer.end());
}

Tensor Model::read(const Texts&) const { throw Error(concat(name(), " takes images, no texts")); }

std::function<std::string(const Tensor&)> names_in(const Module& model) {
  std::map<const void*, std::string> names;
  for (const Parameter& p : model.parameters()) names[p.value.id()] = p.name;
  return [names](const Tensor& x) {
    const auto found = names.find(x.id());
    return found == names.end() ? std::string() : found->second;
  };
}

void copy_parameters(const Module& from, const Module& to) {
  const std::vector<Tensor> source = tensors(from.parameters()), target = tensors(to.parameters());
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
  for (const Parameter& p : model.parameters()) p.value.move_to(device);
  for (const Tensor& b : model.buffers()) b.move_to(device);
}

}  // namespace nn
}  // namespace tinymp
