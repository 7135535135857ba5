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
  Shadow* shadow = nullptr;                         ///< the FP32 model to compare with, or null
  bool counts_flushed = false;                      ///< needs the shadow
  bool norm = false;                                ///< takes the norm of the gradients
  bool histograms = false;                          ///< counts the sizes of gradients and updates
  NonfiniteTracer* tracer = nullptr;                ///< traces infinities and NaN; null: no tracing
  std::function<void(const Gradients&)> updated{};  ///< called after the optimizer's step, taken or skipped
};

/// What the CPU knows of a step that the device may still be computing.
struct PendingStep {
  std::int64_t number;
  double flushed;
  float lr;
  bool has_norm;
  std::optional<StepSizes> sizes{};
};

/// The rest lies on the device: reading waits.
struct StartedStep {
  PendingStep step;
  Tensor loss, scale;
  std::optional<Tensor> norm;  ///< of all unscaled gradients before clipping, where it was taken
  DeviceValue<kernels::GradientCounts> found;
  DeviceValue<kernels::StepOutcome> outcome;
};

/// Starts a step at the current learning rate of the optimizer.
StartedStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const StepMeters& meters, const data::Batch& batch);

}  // namespace tinymp::train
