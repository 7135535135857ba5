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

KeptMasters masters_of(const Optimizer& optimizer) {
  const Optimizer::State whole = optimizer.is_shared() ? optimizer.state() : Optimizer::State();
  const auto copy_of = [](const Tensor& x) {
    Tensor copy = Tensor::like(x);
    kernels::cast(x.view(), copy.view());
    return copy;
  };
  const std::vector<Tensor>& moments = optimizer.is_shared() ? whole.moments : optimizer.moments();
  return {copy_of(optimizer.is_shared() ? whole.master : optimizer.master()),
          optimizer.has_compensation() ? copy_of(moments.back()) : Tensor()};
}

StepHistograms::StepHistograms(std::int64_t step, double scale, Task task, const nn::Model& model,
                               std::span<const data::Batch> batches, Shadow* shadow, KeptMasters before)
    : sizes_{.step = step, .scale = scale}, before_(std::move(before)) {
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
  const std::vector<float> updates = optimizer.exact_updates(gradients, before_.master);
  const KeptMasters moved = masters_of(optimizer);
  const std::vector<float> before = before_.master.to_floats(), after = moved.master.to_floats();
  std::vector<float> kept_before, kept_after;
  if (before_.compensation) {
    kept_before = before_.compensation.to_floats();
    kept_after = moved.compensation.to_floats();
  }
  std::size_t begin = 0;
  for (ParameterSizes& p : sizes_.parameters) {
    const auto count = static_cast<std::size_t>(p.gradients.sizes.values());
    expect(begin + count <= updates.size(),
           "StepHistograms: the optimizer has other parameters than the model");
    const auto part = [&](const std::vector<float>& all) {
      return all.empty() ? std::span<const float>() : std::span(all).subspan(begin, count);
    };
    p.updates = update_sizes({part(updates), part(before), part(after), before_.master.dtype(),
                              optimizer.rounds_updates(), part(kept_before), part(kept_after)});
    begin += count;
  }
}

double StepHistograms::flushed() const {
  const GradientSizes all = sizes_.gradients();
  return share(all.flushed, all.sizes.nonzero());
}

}  // namespace tinymp::train
