#include <tinymp/amp/autocast.h>
#include <tinymp/train/step.h>
#include <utility>

namespace tinymp::train {

// The order of the calls is that of Micikevicius et al. 2018.
PendingStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const StepMeters& meters, const data::Batch& batch) {
  if (meters.shadow != nullptr && (meters.counts_flushed || meters.histograms)) meters.shadow->follow(model);
  Tensor loss;
  {
    const Autocast region(plan.recipe);
    Tape tape(meters.tracer);
    loss = plan.loss ? plan.loss(model(batch.images), batch.labels) : loss_of(plan.task, model, batch);
    tape.backward(scaler.scale(loss));
  }
  const Tensor scale = scaler.last_factor();
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  if (plan.clip > 0) clip_norm(gradients, plan.clip);
  double flushed = not_measured;
  std::optional<StepHistograms> histograms;
  if (meters.histograms)
    histograms.emplace(number, scale.item(), plan.task, model, batch, meters.shadow, optimizer);
  if (meters.counts_flushed && check.finite())
    flushed = histograms ? histograms->flushed() : meters.shadow->flushed(plan.task, model, batch);
  const DeviceValue<kernels::StepOutcome> outcome = optimizer.step(gradients, check);
  if (histograms && outcome.read().taken) histograms->add_updates(optimizer, gradients);
  if (meters.updated) meters.updated(gradients);
  PendingStep step{number, loss, scale, check.found(), outcome, flushed, optimizer.learning_rate()};
  if (histograms) step.sizes = histograms->sizes();
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return step;
}

}  // namespace tinymp::train
