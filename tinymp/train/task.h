#pragma once

#include <tinymp/data/loader.h>
#include <tinymp/nn/module.h>

namespace tinymp::train {

/// What a model is asked to do with an image.
enum class Task : std::uint8_t {
  classify,     ///< name it: cross-entropy of the logits; measured as accuracy in percent
  reconstruct,  ///< draw it again: mean squared error over batch and pixels; measured as just that
};

/// The FP32 scalar that training makes small.
Tensor loss_of(Task task, const nn::Model& model, const data::Batch& batch);

/// Over a whole dataset, without a tape, on the device of the model. NaN when the model's output is not
/// finite.
double measure(Task task, const nn::Model& model, const data::Dataset& dataset,
               data::LoaderOptions options = {}, Device device = Device::cpu);

const char* metric_name(Task task);  ///< "test accuracy (%)", "test MSE"
inline bool higher_is_better(Task task) { return task == Task::classify; }

}  // namespace tinymp::train
