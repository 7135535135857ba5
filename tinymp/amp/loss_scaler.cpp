#include <kernels/kernels.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/base/memory_account.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizer.h>
#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tinymp {
namespace {

const LossScaling& checked(const LossScaling& policy) {
  visit_fields(policy, []<class T>(const ScalingField& field, const T& value) {
    if constexpr (std::same_as<T, ScaleFloors>) {
      const std::string fault = fault_of(value);
      expect(fault.empty(), "LossScaler: the floors cannot be used: ", fault);
    } else if constexpr (!std::same_as<T, bool>) {
      const auto number = static_cast<double>(value);
      expect(std::isfinite(number) && number > field.above && number < field.below, "LossScaler: ", field.key,
             " is ", value, "; it must be a finite number above ", field.above,
             std::isfinite(field.below) ? concat(" and below ", field.below) : "");
    }
  });
  return policy;
}

/// As in GradScaler, S may have backed off to 0, and growth_tracker may be growth_interval or more. Then S does
/// not grow until a bad step sets growth_tracker to 0.
bool is_possible(const ScaleState& state, const LossScaling& policy) {
  if (!moves(policy)) return state == first_state(policy);
  constexpr int more_than_any_run = 1 << 30;
  return std::isfinite(state.scale) && state.scale >= 0 && state.growth_tracker >= 0 &&
         state.growth_tracker < more_than_any_run && !state.bad && state.steps >= 0;
}

}  // namespace

LossScaler::LossScaler(const LossScaling& policy)
    : policy_(policy), state_(Device::cpu, first_state(checked(policy))) {}

/// Moves the scale to `device`, the device that uses it. Only a move waits, and only the first loss causes a move.
void LossScaler::follow(Device device) {
  if (state_.device() == device) return;
  expect(open_.empty(), "LossScaler: a step began on ", state_.device(), " and continues on ", device,
         "; all optimizers that share a scaler must be on one device: give each device its own scaler");
  const MemoryRegion own(MemoryKind::workspace);  // no tape keeps it
  state_ = DeviceValue(device, state_.read());
}

Tensor LossScaler::scale(const Tensor& loss) {
  expect(loss.size() == 1 && loss.dtype() == DType::f32, "LossScaler::scale: the loss is ", loss.dtype(),
         loss.shape(), "; it must be one FP32 value: FP16 ends at 65504");
  const Device device = loss.device();
  follow(device);
  const Tensor factor(Shape{}, DType::f32, device);
  kernels::cast(View{&state_.cell().memory->scale, DType::f32, device, Shape{}}, factor.view());
  last_factor_ = std::make_shared<const Tensor>(factor);
  return tinymp::scale(loss, factor);
}

Tensor LossScaler::last_factor() const {
  expect(last_factor_ != nullptr, "LossScaler::last_factor: no loss was scaled yet");
  return *last_factor_;
}

/// Forgets every step that zero_grad() has closed. Throws Error, once, when step() was called in one of these steps,
/// but update() was not.
void LossScaler::expect_no_open_step(const char* caller) {
  const auto stage_of = [](const std::shared_ptr<Gradients::Step>& step) { return step->stage; };
  const bool not_ended = std::ranges::count(open_, Stage::over, stage_of) > 0;
  std::erase_if(open_, [&](const auto& step) { return stage_of(step) >= Stage::dropped; });
  expect(!not_ended, caller, ": the last step was never ended; hand its checks to LossScaler::update()");
}

Tensor LossScaler::seed(Device device) {
  static_assert(offsetof(ScaleState, scale) == 0);
  follow(device);
  return Tensor::over(state_.storage(), 0, DType::f32);
}

Tensor LossScaler::seed(Device device, double share) {
  expect(std::isfinite(share) && share > 0, "LossScaler::seed: a micro-batch of ", share,
         " times the usual samples; there must be some");
  const Tensor whole = seed(device);
  if (share == 1) return whole;
  const Tensor part = Tensor::like(whole);
  kernels::scale(whole.view(), share, part.view());
  return part;
}

/// What unscale() asks for before it looks at the gradients.
UnscaleResult LossScaler::begin_check(Gradients& gradients) {
  gradients.expect_current("unscale");
  Gradients::Step& step = *gradients.step_;
  expect(
      step.stage == Stage::scaled,
      "LossScaler::unscale was called before on these gradients; call unscale() once a step, and zero_grad() "
      "after each step");
  expect_no_open_step("LossScaler::unscale");

  const Device device = step.arena.device();
  follow(device);
  return {gradients.step_, device, skips_nonfinite(policy_)};
}

/// Opens the step, once its gradients were looked at.
UnscaleResult LossScaler::opened(UnscaleResult check) {
  open_.push_back(check.step_);
  check.step_->stage = Stage::unscaled;
  return check;
}

UnscaleResult LossScaler::unscale(Gradients& gradients) {
  UnscaleResult check = begin_check(gradients);
  gradients.step_->unscale(state_.cell(), check.found_.cell());
  return opened(std::move(check));
}

UnscaleResult LossScaler::unscale(Gradients& gradients, float max_norm) {
  expect(max_norm > 0, "LossScaler::unscale: max_norm is ", max_norm, "; it must be above 0");
  const DeviceValue<float> norm(gradients.tensor().device());
  UnscaleResult check = begin_check(gradients);
  check.norm_ = norm;
  const Gradients::Step& step = *gradients.step_;
  const View norm_view = Tensor::over(norm.storage(), 0, DType::f32).view();
  if (step.micro_batches == 1 && !step.shards) {
    kernels::unscale_and_clip(step.arena.view(), state_.cell(), max_norm, check.found_.cell(),
                              step.factor.cell(), norm_view, step.counts.cell());
  } else {  // the norm is that of the mean
    step.unscale(state_.cell(), check.found_.cell());
    step.clip(max_norm, norm_view);
  }
  return opened(std::move(check));
}

void LossScaler::expect_all(std::span<UnscaleResult* const> checks) const {
  // All checks are validated before anything changes, so that the caller can correct
  // a refused update and call again.
  std::vector<std::shared_ptr<Gradients::Step>> missing = open_;
  for (const UnscaleResult* check : checks) {
    expect(check->step_ != nullptr, "LossScaler::update: this check was handed in before");
    const auto open = std::ranges::find(missing, check->step_);
    expect(open != missing.end(),
           "LossScaler::update: this check is of another scaler or an earlier step, or was given twice");
    missing.erase(open);
  }
  expect(missing.empty(), "LossScaler::update: ", missing.size(),
         " more check(s) of this step are missing; hand in every "
         "check that unscale() returned, in one call");
}

void LossScaler::update(UnscaleResult&& check, const Tensor& loss,
                        const DeviceValue<kernels::StepOutcome>& outcome,
                        const DeviceValue<kernels::StepRecords>& records) {
  UnscaleResult* const only[] = {&check};
  expect_all(only);
  open_.clear();
  check.step_ = nullptr;
  const Tensor norm = check.norm_ ? Tensor::over(check.norm_->storage(), 0, DType::f32) : Tensor();
  kernels::end_step(policy_, check.found_.cell(), outcome.cell(), loss.view(), norm ? norm.view() : View{},
                    state_.cell(), records.cell());
}

void LossScaler::end_step(std::span<UnscaleResult* const> checks) {
  expect_all(checks);
  open_.clear();
  for (UnscaleResult* check : checks) {
    check->step_ = nullptr;
    if (moves(policy_))
      kernels::update_scale(policy_, check->found_.cell(), check == checks.back(), state_.cell());
  }
}

void LossScaler::restore(const ScaleState& state) {
  expect_no_open_step("LossScaler::restore");
  expect(open_.empty(), "LossScaler::restore: a step is under way; end it with update() first");
  expect(is_possible(state, policy_), "LossScaler::restore: scale ", state.scale, " with ",
         state.growth_tracker, " good steps, of ", state.steps,
         " in all, is not a state that this scaler can be in");
  state_.write(state);
}

}  // namespace tinymp
