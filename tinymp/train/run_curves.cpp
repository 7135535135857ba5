#include <tinymp/amp/autocast.h>
#include <tinymp/train/run_curves.h>
#include <algorithm>
#include <cmath>

namespace tinymp::train {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The first `count` examples of a data set.
data::Dataset first_of(const data::Dataset& all, std::int64_t count) {
  data::Dataset part{.name = all.name, .count = std::min(count, all.count), .images = {}, .labels = {}};
  part.shape = all.shape;
  part.images.assign(all.images.begin(), all.images.begin() + part.count * all.shape.size());
  part.labels.assign(all.labels.begin(), all.labels.begin() + part.count);
  return part;
}

}  // namespace

RunCurves::RunCurves(const Plan& plan, const nn::Model& model, const Float8Products& products,
                     const std::vector<LogRecord>& before)
    : plan_(plan), model_(model), products_(products) {
  examples_ = static_cast<double>(plan.text ? plan.text->training().count() : plan.data->train.count);
  if (plan.validate_every > 0 && plan.text) texts_ = measured_texts(plan);
  if (plan.validate_every > 0 && !plan.text) images_ = first_of(plan.data->validation, images);
  if (!before.empty() && std::isfinite(before.back().seconds)) seconds_before_ = before.back().seconds;
  start_ = Clock::now();
}

bool RunCurves::is_measured(const Plan& plan, std::int64_t step) {
  return is_due(step, plan.validate_every) || (plan.validate_every > 0 && step == plan.steps);
}

data::TextExamples RunCurves::measured_texts(const Plan& plan) {
  return plan.text->validation().first(std::max<std::int64_t>(1, tokens / plan.text->context));
}

double RunCurves::seconds() const { return seconds_before_ + seconds_since(start_) - seconds_measuring_; }

void RunCurves::add_to(LogRecord& record, double other_seconds) {
  record.epoch =
      static_cast<double>(record.step) * static_cast<double>(plan_.batch * plan_.micro_batches) / examples_;
  record.seconds = seconds() - other_seconds;
  if (!is_measured(plan_, record.step) || (images_.count == 0 && !texts_)) return;
  const Clock::time_point begin = Clock::now();
  measure(record);
  seconds_measuring_ += seconds_since(begin);
}

/// As the result is measured on the test set: without a tape, so batch norm takes its running averages, dropout drops
/// nothing, and nothing that training needs changes.
void RunCurves::measure(LogRecord& record) {
  const Autocast region(plan_.recipe);
  const Float8Products::Region in_eight_bits(products_);
  if (texts_) {
    record.validation_loss = record.metric = train::measure(model_, *texts_, plan_.batch, plan_.device);
    return;
  }
  const std::int64_t at_once = std::clamp<std::int64_t>(plan_.batch, 100, images);  // memory as in training
  double loss = 0, metric = 0;
  for (const data::Batch& on_host : data::InOrder(images_, at_once, plan_.pixels)) {
    const data::Batch batch = to(on_host, plan_.device);
    const Tensor y = model_(batch.images);
    const Tensor of_batch = plan_.loss ? plan_.loss(y, batch.labels) : loss_of(plan_.task, y, batch);
    loss += of_batch.item() * static_cast<double>(batch.size());
    metric += metric_sum(plan_.task, y, batch);
  }
  record.validation_loss = loss / static_cast<double>(images_.count);
  record.metric = metric_from(plan_.task, metric, images_.count);
}

}  // namespace tinymp::train
