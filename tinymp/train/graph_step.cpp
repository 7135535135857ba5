#include <tinymp/nn/module.h>
#include <tinymp/train/graph_step.h>

namespace tinymp::train {
namespace {

/// A step holds on to some memory, such as its outcome, until the next one. So the second takes other blocks, and the
/// third those of the first.
constexpr int warm_ups_needed = 2;

/// A classifier reads its images in the format of its weights; then gathering rounds them, which saves a cast.
DType format_of_images(const Plan& plan) {
  return plan.task == Task::classify ? plan.recipe.compute : DType::f32;
}

}  // namespace

GraphStep::GraphStep(const Plan& plan, const nn::Model& model, Optimizer& optimizer, LossScaler& scaler,
                     data::Loader& loader, const StepRecords& records)
    : plan_(plan),
      model_(model),
      optimizer_(optimizer),
      scaler_(scaler),
      loader_(loader),
      records_(records),
      data_(plan.data->train, plan.pixels, plan.batch, format_of_images(plan), plan.device) {
  expect(
      !plan.loss, "train::run: the plan '", plan.name,
      "' has a loss of its own, which needs the labels on the CPU; such a step is not recorded as a graph");
}

PendingStep GraphStep::step(std::int64_t number) {
  return start_step(plan_, number, model_, optimizer_, scaler_, {.norm = true}, data_.next(records_),
                    records_);
}

PendingStep GraphStep::take(std::int64_t number, std::int64_t recorded) {
  data_.follow(loader_, recorded);
  loader_.skip();
  const PrivatePool::Region region(pool_);
  if (warm_ups_ < warm_ups_needed) {
    ++warm_ups_;
    return step(number);
  }
  if (!graph_) graph_.emplace([&] { step(number); });
  graph_->launch();
  parameters_changed();
  return {number, not_measured, optimizer_.learning_rate(), true};
}

}  // namespace tinymp::train
