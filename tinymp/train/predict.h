#pragma once

#include <tinymp/data/loader.h>
#include <tinymp/nn/module.h>

namespace tinymp::train {

/// What a classifier says of one image.
struct Prediction {
  std::vector<float> logits{};   ///< (C)
  std::vector<double> shares{};  ///< (C), softmax of the logits in FP64; they add up to 1
  std::size_t answer = 0;        ///< the class of the largest logit; of equal ones the first
  bool is_finite = true;  ///< false: a logit is infinite or NaN, the shares are NaN and no answer counts
};

/// Asks a model about each image of a data set, in its order, on the device of the model.
std::vector<Prediction> predict(const nn::Model& model, const data::Dataset& images,
                                const data::LoaderOptions& options, Device device = Device::cpu);

/// The shares of classes from logits: exp(x - largest), divided by their sum.
Prediction prediction_from(std::vector<float> logits);

}  // namespace tinymp::train
