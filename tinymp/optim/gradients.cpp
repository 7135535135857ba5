#include <tinymp/optim/gradients.h>

namespace tinymp {

void Gradients::expect_current(const char* who) const {
  expect(round_ == state_->round, who,
         ": these gradients are from before zero_grad(); call gradients() again");
}

Tensor clip_norm(Gradients& gradients, float max_norm) {
  expect(max_norm > 0, "clip_norm: max_norm is ", max_norm, "; it must be above 0");
  gradients.expect_current("clip_norm");
  GradientState& state = *gradients.state_;
  expect(state.unscaled,
         "clip_norm: these gradients are still multiplied by the loss scale, so their norm means "
         "nothing; call LossScaler::unscale() first");
  Tensor norm(Shape{}, DType::f32, state.arena.device());
  kernels::clip(state.arena.view(), max_norm, state.factor.cell(), norm.view());
  return norm;
}

}  // namespace tinymp
