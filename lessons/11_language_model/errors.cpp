#include <kernels/kernels.h>
#include <lessons/11_language_model/errors.h>
#include <tinymp/ops/ops.h>

namespace tinymp::lab {

void LogitErrors::backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor&,
                           const Tensor&, const std::vector<Tensor>& gradients) {
  if (op != "cross_entropy") return;
  logits_ = inputs[0].to(Device::cpu);
  errors_ = gradients[0].to(Device::cpu);
  visit_dtype(errors_.dtype(), [&]<class T> {
    for (const T error : std::span(errors_.data<T>(), static_cast<std::size_t>(errors_.size()))) {
      const auto push = static_cast<float>(error);
      zeros_ += push == 0;
      others_ += push != 0;
      (push > 0 ? down_ : up_) += static_cast<double>(push > 0 ? push : -push);
    }
  });
}

train::GradientSizes LogitErrors::sizes(std::span<const std::int32_t> targets, std::int64_t tokens,
                                        double scale) const {
  const Shape part{tokens, logits_.shape()[1]};
  const Tensor logits(part, DType::f32);
  kernels::cast(logits_.slice(0, part).view(), logits.view());
  logits.set_requires_grad(true);
  {
    Tape tape;
    tape.backward(cross_entropy(logits, targets.first(static_cast<std::size_t>(tokens))));
  }
  // A mean over fewer tokens: its errors are larger by a power of two.
  const double fewer = static_cast<double>(tokens) / static_cast<double>(logits_.shape()[0]);
  return train::gradient_sizes(logits.grad(), errors_.slice(0, part), scale * fewer);
}

}  // namespace tinymp::lab
