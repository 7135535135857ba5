#include <tinymp/nn/module.h>
#include <tinymp/train/graph_step.h>

namespace tinymp::train {
namespace {

/// A classifier reads its images in the format of its weights; then gathering rounds them, which saves a cast.
DType format_of_images(const Plan& plan) {
  return plan.task == Task::classify ? plan.recipe.compute : DType::f32;
}

}  // namespace

GraphStep::GraphStep(const Plan& plan, const nn::Model& model, Optimizer& optimizer, LossScaler& scaler,
                     const Float8Products& products, data::Loader& loader, const StepRecords& records)
    : plan_(plan),
      model_(model),
      optimizer_(optimizer),
      scaler_(scaler),
      products_(products),
      loader_(loader),
      records_(records) {
  if (plan.text)
    texts_.emplace(plan.text->training(), plan.batch, plan.micro_batches, plan.device);
  else
    images_.emplace(plan.data->train, plan.pixels, plan.batch, plan.micro_batches, format_of_images(plan),
                    plan.device);
}

MicroBatches GraphStep::batches() const {
  return {equal_sizes(plan_),
          [this](std::int64_t i) { return texts_ ? texts_->next(records_, i) : images_->next(records_, i); }};
}

PendingStep GraphStep::step(std::int64_t number) {
  return start_step(plan_, number, model_, optimizer_, scaler_, products_, {.norm = true}, batches(),
                    records_);
}

PendingStep GraphStep::take(std::int64_t number, std::int64_t recorded) {
  texts_ ? texts_->follow(loader_, recorded) : images_->follow(loader_, recorded);
  loader_.skip();
  const PrivatePool::Region region(pool_);
  if (!is_warm_) {
    is_warm_ = true;
    // The optimizer holds the outcome of its last step until the next one has its own: the pool must have room for both.
    const DeviceValue<kernels::StepOutcome> spare(plan_.device);
    return step(number);
  }
  if (!graph_) graph_.emplace([&] { step(number); });
  graph_->launch();
  parameters_changed();
  return {number, not_measured, optimizer_.learning_rate(), true};
}

}  // namespace tinymp::train
