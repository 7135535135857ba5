#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/watch.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/meters.h>
#include <cstdint>
#include <functional>
#include <optional>

/// One training step: a run takes it, and whoever looks for what broke the run takes the same step again.
namespace tinymp::train {

/// What is looked at beside the step itself.
struct Look {
  Shadow* shadow = nullptr;     ///< null: the model is FP32 itself, or nobody asks
  bool counts_flushed = false;  ///< needs the shadow
  bool closely = false;
  Watch* watch = nullptr;                           ///< for what is not finite; null: nobody watches
  std::function<void(const Gradients&)> updated{};  ///< called when the optimizer has moved, or skipped
};

/// A step that has been handed to the device. What it found stays there until it is logged: reading waits.
struct PendingStep {
  std::int64_t number;
  Tensor loss, scale;
  DeviceValue<kernels::GradientCounts> found;
  DeviceValue<kernels::StepOutcome> outcome;
  double flushed;
  float lr;
  std::optional<StepSizes> sizes{};
};

/// At the learning rate that the optimizer has.
PendingStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const Look& look, const data::Batch& batch);

}  // namespace tinymp::train
