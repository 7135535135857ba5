#include <tinymp/amp/autocast.h>
#include <tinymp/train/accumulate.h>
#include <tinymp/train/rank_sum.h>
#include <tinymp/train/step.h>
#include <limits>
#include <utility>
#include <vector>

namespace tinymp::train {

std::vector<std::int64_t> equal_sizes(const Plan& plan) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(plan.micro_batches), plan.batch);
}

MicroBatches next_of(const data::Loader& loader, const Plan& plan) {
  return {equal_sizes(plan), [&loader, &plan](std::int64_t i) {
            if (plan.device == Device::cpu) return loader.part(i, plan.micro_batches);
            std::optional<data::Batch> here;
            {
              const Uncounted apart;  // the CPU's memory, not the device's
              here = loader.part(i, plan.micro_batches);
            }
            return to(std::move(*here), plan.device);
          }};
}

namespace {

/// The batches of a step once more, for what only measures.
std::vector<data::Batch> once_more(const MicroBatches& batches) {
  const Uncounted apart;
  std::vector<data::Batch> all;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(batches.sizes.size()); ++i)
    all.push_back(batches.get(i));
  return all;
}

/// Forward and backward of one micro-batch. Returns its loss.
Tensor backward_of(const Plan& plan, const nn::Model& model, const Tensor& seed, Observer* observer,
                   const data::Batch& batch) {
  Tape tape(observer, seed);
  const Tensor loss = [&] {
    std::optional<nn::Recomputing> segments;
    if (plan.recompute.any()) segments.emplace(plan.recompute);
    return plan.loss ? plan.loss(answer_of(model, batch), batch.labels) : loss_of(plan.task, model, batch);
  }();
  tape.backward(loss);
  return loss;
}

}  // namespace

// The order of the calls is that of Micikevicius et al. 2018. Backward begins with S instead of 1: so its gradients are
// those of loss x S.
PendingStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const Float8Products& products, const StepMeters& meters,
                       const MicroBatches& batches, const StepRecords& records) {
  if (meters.shadow != nullptr && (meters.counts_flushed || meters.histograms)) {
    const Uncounted apart;
    meters.shadow->follow(model);
  }
  KeptMasters before;
  if (meters.histograms) {
    const Uncounted apart;
    before = masters_of(optimizer);
  }
  std::optional<EightBitMeter> eight_bits;
  if (meters.eight_bits)
    eight_bits.emplace(names_in(model), meters.tracer,
                       plan.recipe.eight_bits.scaling == TensorScaling::delayed);
  const Accumulated sum = [&] {
    const Autocast region(plan.recipe);
    products.begin_step();
    const Float8Products::Region in_eight_bits(products);
    expect(meters.observer == nullptr || (meters.tracer == nullptr && !eight_bits),
           "start_step: an observer beside a tracer or a meter of 8 bits, which would see the ops alone");
    Observer* const traced = meters.tracer != nullptr ? meters.tracer : meters.observer;
    Observer* const observer = eight_bits ? static_cast<Observer*>(&*eight_bits) : traced;
    const auto backward = [&](std::int64_t i, const Tensor& seed, Observer* seen_by) {
      return backward_of(plan, model, seed, seen_by, batches.get(i));
    };
    if (batches.ranks != nullptr) return batches.ranks->accumulate(number, scaler, observer, backward);
    const BackwardOf here = [&](std::int64_t i, const Tensor& seed) { return backward(i, seed, observer); };
    if (!plan.wire.rounds()) return accumulate(batches.sizes, plan.device, scaler, here);
    return WireSum(plan.wire, plan.ranks->ranks(), tensors(model.parameters()))
        .accumulate_all(batches.sizes, scaler, here);
  }();
  products.end_step();
  Gradients gradients = optimizer.gradients(sum.micro_batches);
  // No norm is above infinity: that limit clips nothing.
  const float max_norm = plan.clip > 0 ? plan.clip : std::numeric_limits<float>::infinity();
  const bool has_norm = plan.clip > 0 || meters.norm;
  UnscaleResult check = has_norm ? scaler.unscale(gradients, max_norm) : scaler.unscale(gradients);
  if (batches.ranks != nullptr) batches.ranks->decide(check);
  std::optional<nn::Recomputing> of_shadow;  // it has as little room as the model
  if (plan.recompute.any()) of_shadow.emplace(plan.recompute);
  double flushed = not_measured;
  std::optional<StepHistograms> histograms;
  std::vector<data::Batch> measured;
  if (meters.counts_flushed || meters.histograms) measured = once_more(batches);
  if (meters.histograms) {
    const Uncounted apart;
    histograms.emplace(number, scaler.factor(), plan.task, model, measured, meters.shadow, std::move(before));
  }
  if (meters.counts_flushed && check.finite()) {
    const Uncounted apart;
    flushed = histograms ? histograms->flushed() : meters.shadow->flushed(plan.task, model, measured);
  }
  const DeviceValue<kernels::StepOutcome> outcome = optimizer.step(gradients, check);
  if (histograms && outcome.read().taken) {
    const Uncounted apart;
    histograms->add_updates(optimizer, gradients);
  }
  if (meters.updated) meters.updated(gradients);
  scaler.update(std::move(check), sum.loss, outcome, records);
  optimizer.zero_grad();
  PendingStep started{number, flushed, optimizer.learning_rate(), has_norm};
  if (histograms) started.sizes = histograms->sizes();
  if (histograms && eight_bits) started.sizes->eight_bits = eight_bits->sizes();
  if (eight_bits) started.worst = eight_bits->worst();
  return started;
}

}  // namespace tinymp::train
