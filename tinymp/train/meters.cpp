#include <kernels/kernels.h>
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
  kernels::FlushCounts counts;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    counts += kernels::count_flushed(narrow[i].grad().view(), wide[i].grad().view());
    wide[i].clear_grad();
  }
  return counts.values == 0 ? 0 : static_cast<double>(counts.flushed) / static_cast<double>(counts.values);
}

}  // namespace tinymp::train
