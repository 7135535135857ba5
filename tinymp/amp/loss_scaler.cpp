#include <tinymp/amp/loss_scaler.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <cmath>

namespace tinymp {
namespace {

void expect_scale(float scale) {
  expect(std::isfinite(scale) && scale > 0, "LossScaler: the scale is ", scale,
         "; it must be finite and above 0");
}

void expect_policy(const LossScaling& policy) {
  if (const auto* fixed = std::get_if<StaticScaling>(&policy)) expect_scale(fixed->factor);
  const auto* dynamic = std::get_if<DynamicScaling>(&policy);
  if (dynamic == nullptr) return;
  expect_scale(dynamic->initial);
  expect(std::isfinite(dynamic->growth) && dynamic->growth > 1, "LossScaler: growth is ", dynamic->growth,
         "; it must be above 1");
  expect(dynamic->backoff > 0 && dynamic->backoff < 1, "LossScaler: backoff is ", dynamic->backoff,
         "; it must lie between 0 and 1");
  expect(dynamic->growth_interval >= 1, "LossScaler: growth_interval is ", dynamic->growth_interval,
         "; it must be at least 1");
}

LossScaler::State first_state(const LossScaling& policy) {
  expect_policy(policy);
  LossScaler::State state;
  if (const auto* fixed = std::get_if<StaticScaling>(&policy)) state.scale = fixed->factor;
  if (const auto* dynamic = std::get_if<DynamicScaling>(&policy)) state.scale = dynamic->initial;
  return state;
}

/// Dynamic scaling may back off to 0, and a tracker beyond the interval never grows: as in GradScaler. The
/// other policies never move.
bool is_possible(const LossScaler::State& state, const LossScaling& policy) {
  if (!std::holds_alternative<DynamicScaling>(policy)) return state == first_state(policy);
  constexpr int more_than_any_run = 1 << 30;
  return std::isfinite(state.scale) && state.scale >= 0 && state.growth_tracker >= 0 &&
         state.growth_tracker < more_than_any_run;
}

kernels::ScaleState as_kernel_state(const LossScaler::State& state) {
  return {.scale = state.scale, .growth_tracker = state.growth_tracker};
}

/// What to do with a step whose gradients are not all finite.
bool skips_nonfinite(const LossScaling& policy) {
  const auto* fixed = std::get_if<StaticScaling>(&policy);
  return std::holds_alternative<DynamicScaling>(policy) || (fixed != nullptr && fixed->skip_nonfinite);
}

}  // namespace

LossScaler::LossScaler(const LossScaling& policy)
    : policy_(policy), state_(Device::cpu, as_kernel_state(first_state(policy))) {}

/// The scale lives where it is used: it moves with the first loss, and that once waits.
void LossScaler::follow(Device device) {
  if (state_.device() == device) return;
  expect(open_.empty(), "LossScaler: a step that began on ", state_.device(), " goes on on ", device,
         "; what shares a scale must share a device: give each device a scaler of its own");
  state_ = DeviceValue(device, state_.read());
}

LossScaler::State LossScaler::state() const {
  const kernels::ScaleState state = state_.read();
  return {state.scale, state.growth_tracker};
}

Tensor LossScaler::factor_on(Device device) const {
  const Device here = state_.device();
  Tensor factor(Shape{}, DType::f32, here);
  const View now{&state_.cell().memory->scale, DType::f32, here, Shape{}};
  kernels::cast(now, factor.view());
  return factor.to(device);
}

Tensor LossScaler::scale(const Tensor& loss) {
  expect(loss.size() == 1 && loss.dtype() == DType::f32, "LossScaler::scale: the loss is ", loss.dtype(),
         loss.shape(), "; it must be one FP32 value: FP16 ends at 65504");
  follow(loss.device());
  return tinymp::scale(loss, factor_on(loss.device()));
}

/// Where zero_grad() has begun a new step, the old one is forgotten; but when it was taken, update() should
/// have ended it, and that is said once.
void LossScaler::expect_no_open_step(const char* who) {
  const auto taken = [](const Open& open) { return open.of->stepped_round == open.round; };
  const auto over = [](const Open& open) { return open.of->round != open.round; };
  const bool not_ended =
      std::ranges::any_of(open_, [&](const Open& open) { return over(open) && taken(open); });
  std::erase_if(open_, over);
  expect(!not_ended, who, ": the last step was never ended; hand its checks to LossScaler::update()");
}

GradCheck LossScaler::unscale(Gradients& gradients) {
  gradients.expect_current("unscale");
  GradientState& state = *gradients.state_;
  expect(
      !state.unscaled,
      "LossScaler::unscale was called before on these gradients; once a step is enough (or zero_grad() was "
      "forgotten after the last step)");
  expect_no_open_step("LossScaler::unscale");

  follow(state.arena.device());
  GradCheck check(state.arena.device(), skips_nonfinite(policy_));
  kernels::unscale(state.arena.view(), state_.cell(), check.found_.cell(), state.factor.cell());
  check.of_ = gradients.state_;
  check.round_ = state.round;
  open_.push_back({gradients.state_, state.round});
  state.unscaled = true;
  return check;
}

void LossScaler::end_step(std::span<GradCheck* const> checks) {
  // Everything is looked at before anything changes, so that a refused update can be put right and called
  // again.
  std::vector<Open> missing = open_;
  for (const GradCheck* check : checks) {
    expect(check->of_ != nullptr, "LossScaler::update: this check was handed in before");
    const auto open = std::ranges::find(missing, Open{check->of_, check->round_});
    expect(open != missing.end(),
           "LossScaler::update: this check is of another scaler or an earlier step, or given twice");
    missing.erase(open);
  }
  expect(missing.empty(), "LossScaler::update: ", missing.size(),
         " more check(s) of this step are missing; hand in every "
         "check that unscale() returned, in one call");
  open_.clear();
  for (GradCheck* check : checks) {
    check->of_ = nullptr;
    if (const auto* dynamic = std::get_if<DynamicScaling>(&policy_))
      kernels::update_scale(*dynamic, check->found_.cell(), check == checks.back(), state_.cell());
  }
}

void LossScaler::restore(const State& state) {
  expect_no_open_step("LossScaler::restore");
  expect(open_.empty(), "LossScaler::restore: a step is under way; end it with update() first");
  expect(is_possible(state, policy_), "LossScaler::restore: scale ", state.scale, " with ",
         state.growth_tracker, " good steps is not a state that this scaler can be in");
  state_.write(as_kernel_state(state));
}

}  // namespace tinymp
