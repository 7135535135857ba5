#include <tinymp/ops/ops.h>
#include <tinymp/train/task.h>
#include <cmath>
#include <limits>

namespace tinymp::train {
namespace {

/// Counts the correct answers of one batch. NaN when a logit is not finite: an
/// argmax would still name a class.
double correct(const Tensor& logits, const std::vector<std::int32_t>& labels) {
  const std::vector<float> values = logits.to_floats();  // (B,C)
  const std::size_t classes = static_cast<std::size_t>(logits.shape()[1]);
  double hits = 0;
  for (std::size_t b = 0; b < labels.size(); ++b) {
    std::size_t best = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const float x = values[b * classes + c];
      if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
      if (x > values[b * classes + best]) best = c;
    }
    hits += best == static_cast<std::size_t>(labels[b]);
  }
  return hits;
}

}  // namespace

Tensor loss_of(Task task, const Tensor& y, const data::Batch& batch) {
  if (task == Task::reconstruct) return mse(y, batch.images);
  return batch.there ? resident::cross_entropy(y, *batch.there) : cross_entropy(y, batch.labels);
}

double metric_sum(Task task, const Tensor& y, const data::Batch& batch) {
  if (task == Task::classify) return correct(y, batch.labels);
  return loss_of(task, y, batch).item() * static_cast<double>(batch.size());
}

double metric_from(Task task, double sum, std::int64_t count) {
  const double mean = sum / static_cast<double>(count);
  if (!std::isfinite(mean)) return std::numeric_limits<double>::quiet_NaN();
  return task == Task::classify ? 100 * mean : mean;
}

double measure(Task task, const nn::Model& model, const data::Dataset& dataset, data::LoaderOptions options,
               Device device) {
  double total = 0;
  for (const data::Batch& on_host : data::InOrder(dataset, 1000, options)) {
    const data::Batch batch = to(on_host, device);
    total += metric_sum(task, model(batch.images), batch);
  }
  return metric_from(task, total, dataset.count);
}

double measure(const nn::Model& model, const data::TextExamples& texts, std::int64_t at_once, Device device) {
  double total = 0;
  std::int64_t asked = 0;
  for (std::int64_t i = 0; i < texts.count(); i += at_once) {
    const data::Batch batch = to(data::texts_in_order(texts, i, at_once), device);
    total += metric_sum(Task::name_tokens, answer_of(model, batch), batch);
    asked += batch.size();
  }
  return metric_from(Task::name_tokens, total, asked);
}

const char* metric_name(Task task) {
  if (task == Task::name_tokens) return "validation loss";
  return task == Task::classify ? "test accuracy (%)" : "test MSE";
}

}  // namespace tinymp::train
