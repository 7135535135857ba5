#include <tinymp/amp/autocast.h>
#include <tinymp/train/step.h>
#include <limits>
#include <utility>

namespace tinymp::train {

// The order of the calls is that of Micikevicius et al. 2018.
StartedStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const StepMeters& meters, const data::Batch& batch) {
  if (meters.shadow != nullptr && (meters.counts_flushed || meters.histograms)) {
    const Uncounted apart;
    meters.shadow->follow(model);
  }
  Tensor loss;
  {
    const Autocast region(plan.recipe);
    Tape tape(meters.tracer);
    loss = plan.loss ? plan.loss(model(batch.images), batch.labels) : loss_of(plan.task, model, batch);
    tape.backward(scaler.scale(loss));
  }
  const Tensor scale = scaler.last_factor();
  for (const Tensor& kept : {loss, scale})
    kept.count_as(MemoryKind::workspace);  // the log needs them, no tape
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  std::optional<Tensor> norm;
  if (plan.clip > 0 || meters.norm)  // no norm is above infinity: that limit clips nothing
    norm = clip_norm(gradients, plan.clip > 0 ? plan.clip : std::numeric_limits<float>::infinity());
  double flushed = not_measured;
  std::optional<StepHistograms> histograms;
  if (meters.histograms) {
    const Uncounted apart;
    histograms.emplace(number, scale.item(), plan.task, model, batch, meters.shadow, optimizer);
  }
  if (meters.counts_flushed && check.finite()) {
    const Uncounted apart;
    flushed = histograms ? histograms->flushed() : meters.shadow->flushed(plan.task, model, batch);
  }
  const DeviceValue<kernels::StepOutcome> outcome = optimizer.step(gradients, check);
  if (histograms && outcome.read().taken) {
    const Uncounted apart;
    histograms->add_updates(optimizer, gradients);
  }
  if (meters.updated) meters.updated(gradients);
  StartedStep started{{number, flushed, optimizer.learning_rate(), norm.has_value()},
                      loss,
                      scale,
                      norm,
                      check.found(),
                      outcome};
  if (histograms) started.step.sizes = histograms->sizes();
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return started;
}

}  // namespace tinymp::train
