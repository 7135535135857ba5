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
  std::int64_t flushed = 0, values = 0;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    flushed += kernels::count_flushed(narrow[i].grad().view(), wide[i].grad().view());
    values += narrow[i].size();
    wide[i].clear_grad();
  }
  return static_cast<double>(flushed) / static_cast<double>(values);
}

}  // namespace tinymp::train
