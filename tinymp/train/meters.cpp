#include <kernels/kernels.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/train/meters.h>

namespace tinymp::train {

Shadow::Shadow(std::unique_ptr<nn::Model> model) : model_(std::move(model)) {
  for (const Tensor& p : model_->parameters()) {
    expect(p.dtype() == DType::f32, "Shadow: the shadow must be FP32, this one is ", p.dtype());
  }
}

double Shadow::flushed(Task task, const nn::Model& of, const data::Batch& batch) {
  nn::copy_parameters(of, *model_);
  Tape tape;
  tape.backward(loss_of(task, *model_, batch));

  const std::vector<Tensor> narrow = of.parameters(), wide = model_->parameters();
  const DeviceValue<kernels::FlushCounts> found(narrow.front().device(), {});
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    kernels::count_flushed(narrow[i].grad().view(), wide[i].grad().view(), found.cell());
    wide[i].clear_grad();
  }
  const kernels::FlushCounts counts = found.read();
  return counts.values == 0 ? 0 : static_cast<double>(counts.flushed) / static_cast<double>(counts.values);
}

}  // namespace tinymp::train
