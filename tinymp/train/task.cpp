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

Tensor loss_of(Task task, const nn::Model& model, const data::Batch& batch) {
  const Tensor y = model(batch.images);
  return task == Task::classify ? cross_entropy(y, batch.labels) : mse(y, batch.images);
}

double measure(Task task, const nn::Model& model, const data::Dataset& dataset, data::LoaderOptions options,
               Device device) {
  double total = 0;
  for (const data::Batch& on_host : data::InOrder(dataset, 1000, options)) {
    const data::Batch batch = to(on_host, device);
    const Tensor y = model(batch.images);
    total += task == Task::classify ? correct(y, batch.labels)
                                    : mse(y, batch.images).item() * static_cast<double>(batch.size());
  }
  const double mean = total / static_cast<double>(dataset.count);
  if (!std::isfinite(mean)) return std::numeric_limits<double>::quiet_NaN();
  return task == Task::classify ? 100 * mean : mean;
}

const char* metric_name(Task task) { return task == Task::classify ? "test accuracy (%)" : "test MSE"; }

}  // namespace tinymp::train
