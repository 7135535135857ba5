#pragma once

#include <tinymp/data/loader.h>
#include <tinymp/nn/module.h>

namespace tinymp::train {

/// What a model learns to do with an image, or with a text.
enum class Task : std::uint8_t {
  classify,     ///< name its class: the loss is cross-entropy of the logits; the metric, accuracy in percent
  reconstruct,  ///< draw it again: loss and metric are the mean squared error over batch and pixels
  name_tokens,  ///< of a text: loss and metric are cross-entropy, the mean over the tokens that are asked for, in nats
};

/// What a model says of a batch, of its images or of its texts.
inline Tensor answer_of(const nn::Model& model, const data::Batch& batch) {
  return batch.texts ? model.read(*batch.texts) : model(batch.images);
}

/// The loss of a batch, an FP32 scalar, from what the model says of it.
Tensor loss_of(Task task, const Tensor& y, const data::Batch& batch);
inline Tensor loss_of(Task task, const nn::Model& model, const data::Batch& batch) {
  return loss_of(task, answer_of(model, batch), batch);
}

/// The metric of a batch, summed over its images, or tokens. NaN when a classifier's logit is not finite.
double metric_sum(Task task, const Tensor& y, const data::Batch& batch);
/// The metric from such sums over `count` images; NaN when they are not finite.
double metric_from(Task task, double sum, std::int64_t count);

/// The metric over a whole dataset, without a tape, on the device of the model. NaN when the output of the
/// model is not finite.
double measure(Task task, const nn::Model& model, const data::Dataset& dataset,
               data::LoaderOptions options = {}, Device device = Device::cpu);
/// The loss over all these texts, without a tape, `at_once` in a batch. NaN when it is not finite.
double measure(const nn::Model& model, const data::TextExamples& texts, std::int64_t at_once,
               Device device = Device::cpu);

const char* metric_name(Task task);  ///< "test accuracy (%)", "test MSE", "validation loss"
inline bool higher_is_better(Task task) { return task == Task::classify; }

}  // namespace tinymp::train
