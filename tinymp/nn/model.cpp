#include <kernels/kernels.h>
#include <tinymp/nn/model.h>

namespace tinymp::nn {

void copy_parameters(const Model& from, const Model& to) {
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
  for (std::size_t i = 0; i < source.size(); ++i) {
    kernels::cast(source[i].to(target[i].device()).view(), target[i].view());
  }
}

}  // namespace tinymp::nn
