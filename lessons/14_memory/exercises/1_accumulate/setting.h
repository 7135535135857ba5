#pragma once

#include <cstdint>

/// The request and the reply of exercise 14.1: one step of a model with one weight, which is 1.
namespace tinymp::exercise {

/// Behind it in the request: a list of MicroBatch. On meta the reply is the number of seeds that lie elsewhere.
struct Setting {
  std::int32_t half;  ///< 1: weight and gradients are FP16; 0: FP32
  float scale;        ///< S
  std::int32_t meta = 0;
};
struct MicroBatch {
  std::int64_t size;
  float gradient, loss;  ///< the mean over its samples
};

/// Behind it in the reply: a list of Call.
struct Answer {
  double micro_batches;
  std::int32_t has_loss, loss_is_f32;
  float loss;
  std::int32_t has_step;          ///< 0: without a gradient or with such micro_batches there is no step
  float sum, gradient;            ///< as it lies in the arena, and times the factor
  std::int32_t nonfinite, taken;  ///< gradients that are not finite; whether the optimizer took its step
  float weight, next_scale;       ///< behind the step
};
struct Call {
  std::int64_t i;
  float seed;
};

}  // namespace tinymp::exercise
