#include <kernels/formulas/clip.h>
#include <kernels/kernels.h>
#include <tinymp/optim/optimizer.h>

namespace tinymp {

View Gradients::view() const { return step_->arena.view(); }

const Tensor& Gradients::tensor() const { return step_->arena; }

bool Gradients::unscaled() const { return step_->stage == Stage::unscaled || step_->stage == Stage::stepped; }

float Gradients::factor() const {
  expect_current("factor");
  expect(unscaled(),
         "factor: these gradients are still multiplied by the loss scale; LossScaler::unscale() sets their "
         "factor");
  return step_->factor.read();
}

void Gradients::expect_current(const char* caller) const {
  expect(step_->stage < Stage::dropped, caller,
         ": these gradients are from before zero_grad(); call gradients() again");
}

void UnscaleResult::join(const kernels::GradientCounts& of_all, double sum_of_squares, float max_norm) {
  expect(step_ != nullptr && step_->stage == Stage::unscaled,
         "join: the check is of no step that waits for its optimizer");
  found_.write(of_all);
  float factor = step_->factor.read();
  norm_.emplace(found_.device(), kernels::clip_factor(sum_of_squares, max_norm, factor));
  step_->factor.write(factor);
}

Tensor clip_norm(Gradients& gradients, float max_norm) {
  expect(max_norm > 0, "clip_norm: max_norm is ", max_norm, "; it must be above 0");
  gradients.expect_current("clip_norm");
  expect(gradients.unscaled(),
         "clip_norm: these gradients are still multiplied by the loss scale, so their norm means "
         "nothing; call LossScaler::unscale() first");
  const Gradients::Step& step = *gradients.step_;
  Tensor norm(Shape{}, DType::f32, step.arena.device());
  step.clip(max_norm, norm.view());
  return norm;
}

}  // namespace tinymp
