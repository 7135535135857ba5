#include <tinymp/optim/gradients.h>
#include <cmath>

namespace tinymp {

void Gradients::expect_current(const char* who) const {
  expect(round_ == state_->round, who,
         ": these gradients are from before zero_grad(); call gradients() again");
}

float clip_norm(Gradients& gradients, float max_norm) {
  expect(max_norm > 0, "clip_norm: max_norm is ", max_norm, "; it must be above 0");
  gradients.expect_current("clip_norm");
  GradientState& state = *gradients.state_;
  expect(state.unscaled,
         "clip_norm: these gradients are still multiplied by the loss scale, so their norm means "
         "nothing; call LossScaler::unscale() first");
  // In double: the norm of finite gradients can lie beyond the largest float, and they need clipping most of
  // all.
  const double norm = std::sqrt(kernels::sum_of_squares(state.arena.view(), state.factor));
  const double shrink = static_cast<double>(max_norm) / (norm + 1e-6);
  if (std::isfinite(norm) && shrink < 1)
    state.factor = static_cast<float>(static_cast<double>(state.factor) * shrink);
  return static_cast<float>(norm);
}

}  // namespace tinymp
