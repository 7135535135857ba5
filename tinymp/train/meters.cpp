#include <kernels/kernels.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/train/meters.h>

namespace tinymp::train {

Shadow::Shadow(std::unique_ptr<nn::Model> model) : model_(std::move(model)) {
  for (const Tensor& p : tensors(model_->parameters())) {
    expect(p.dtype() == DType::f32, "Shadow: the shadow must be FP32, this one is ", p.dtype());
  }
}

void Shadow::follow(const nn::Model& of) { nn::copy_parameters(of, *model_); }

void Shadow::backward(Task task, std::span<const data::Batch> batches) {
  for (const data::Batch& batch : batches) {
    Tape tape;
    tape.backward(loss_of(task, *model_, batch));
  }
}

double Shadow::flushed(Task task, const nn::Model& of, std::span<const data::Batch> batches) {
  backward(task, batches);
  const std::vector<Tensor> narrow = tensors(of.parameters()), wide = tensors(model_->parameters());
  const DeviceValue<kernels::FlushCounts> found(narrow.front().device(), {});
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    kernels::count_flushed(narrow[i].grad().view(), wide[i].grad().view(), found.cell());
    wide[i].clear_grad();
  }
  const kernels::FlushCounts counts = found.read();
  return share(counts.flushed, counts.values);
}

std::vector<GradientSizes> Shadow::sizes(Task task, const nn::Model& of, std::span<const data::Batch> batches,
                                         double scale) {
  backward(task, batches);
  const std::vector<Tensor> narrow = tensors(of.parameters()), wide = tensors(model_->parameters());
  std::vector<GradientSizes> found;
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    found.push_back(gradient_sizes(wide[i].grad(), narrow[i].grad(), scale));
    wide[i].clear_grad();
  }
  return found;
}

StepHistograms::StepHistograms(std::int64_t step, double scale, Task task, const nn::Model& model,
                               std::span<const data::Batch> batches, Shadow* shadow,
                               const Optimizer& optimizer)
    : sizes_{.step = step, .scale = scale}, master_(Tensor::like(optimizer.master())) {
  kernels::cast(optimizer.master().view(), master_.view());
  if (optimizer.has_compensation()) {
    compensation_ = Tensor::like(master_);
    kernels::cast(optimizer.moments().back().view(), compensation_.view());
  }
  const std::vector<nn::Parameter> parameters = model.parameters();
  std::vector<GradientSizes> gradients;
  if (shadow != nullptr) {
    gradients = shadow->sizes(task, model, batches, scale);
  } else {
    for (const Tensor& p : tensors(parameters)) gradients.push_back(gradient_sizes(p.grad(), p.grad(), 1));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    sizes_.parameters.push_back({parameters[i].name, gradients[i], {}});
}

void StepHistograms::add_updates(const Optimizer& optimizer, const Gradients& gradients) {
  const std::vector<float> updates = optimizer.exact_updates(gradients, master_);
  const std::vector<float> before = master_.to_floats(), after = optimizer.master().to_floats();
  std::vector<float> kept_before, kept_after;
  if (compensation_) {
    kept_before = compensation_.to_floats();
    kept_after = optimizer.moments().back().to_floats();
  }
  std::size_t begin = 0;
  for (ParameterSizes& p : sizes_.parameters) {
    const auto count = static_cast<std::size_t>(p.gradients.sizes.values());
    expect(begin + count <= updates.size(),
           "StepHistograms: the optimizer has other parameters than the model");
    const auto part = [&](const std::vector<float>& all) {
      return all.empty() ? std::span<const float>() : std::span(all).subspan(begin, count);
    };
    p.updates = update_sizes({part(updates), part(before), part(after), master_.dtype(),
                              optimizer.rounds_updates(), part(kept_before), part(kept_after)});
    begin += count;
  }
}

double StepHistograms::flushed() const {
  const GradientSizes all = sizes_.gradients();
  return share(all.flushed, all.sizes.nonzero());
}

}  // namespace tinymp::train
