#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/meters.h>
#include <cstdint>
#include <functional>
#include <optional>

/// One training step. A run takes it; the search for what broke a run takes the same step again.
namespace tinymp::train {

/// What a step measures besides taking it.
struct StepMeters {
  Shadow* shadow = nullptr;           ///< null: the model is FP32 itself, or nothing is compared
  bool counts_flushed = false;        ///< needs the shadow
  bool histograms = false;            ///< of the sizes of gradients and updates
  NonfiniteTracer* tracer = nullptr;  ///< finds what is not finite; null: none
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
                       LossScaler& scaler, const StepMeters& meters, const data::Batch& batch);

}  // namespace tinymp::train
