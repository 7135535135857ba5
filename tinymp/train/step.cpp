#include <tinymp/amp/autocast.h>
#include <tinymp/train/step.h>
#include <utility>

namespace tinymp::train {

// In the order of Micikevicius et al. 2018.
PendingStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const Look& look, const data::Batch& batch) {
  if (look.shadow != nullptr && (look.counts_flushed || look.closely)) look.shadow->follow(model);
  Tensor loss;
  {
    const Autocast region(plan.recipe);
    Tape tape(look.watch);
    loss = plan.loss ? plan.loss(model(batch.images), batch.labels) : loss_of(plan.task, model, batch);
    tape.backward(scaler.scale(loss));
  }
  const Tensor scale = scaler.last_factor();
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  if (plan.clip > 0) clip_norm(gradients, plan.clip);
  double flushed = not_measured;
  std::optional<CloseLook> close;
  if (look.closely) close.emplace(number, scale.item(), plan.task, model, batch, look.shadow, optimizer);
  if (look.counts_flushed && check.finite())
    flushed = close ? close->flushed() : look.shadow->flushed(plan.task, model, batch);
  const DeviceValue<kernels::StepOutcome> outcome = optimizer.step(gradients, check);
  if (close && outcome.read().taken) close->add_updates(optimizer, gradients);
  if (look.updated) look.updated(gradients);
  PendingStep step{number, loss, scale, check.found(), outcome, flushed, optimizer.learning_rate()};
  if (close) step.sizes = close->sizes();
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return step;
}

}  // namespace tinymp::train
