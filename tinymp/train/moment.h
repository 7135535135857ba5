#pragma once

#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/data/loader.h>
#include <tinymp/nn/module.h>
#include <tinymp/optim/optimizer.h>
#include <cstdint>
#include <vector>

/// All that changes in a run, from step to step.
namespace tinymp::train {

/// The parts of a run that change.
struct RunningParts {
  const nn::Model& model;
  const Optimizer& optimizer;
  const LossScaler& scaler;
  const Float8Products& products;
  const data::Loader& loader;
};

/// A run at one moment: copies, not handles.
struct Moment {
  std::int64_t step = 0;  ///< the steps that are over
  Optimizer::State optimizer{};
  std::vector<Tensor> buffers{};  ///< the buffers of the model; the step of a dropout chooses its next mask
  ScaleState scaler{};
  DelayedScaleState scales{};  ///< of tensors in FP8
  data::Loader loader;
};

/// Copies the state of a run after `step` steps. Waits for the device of the run.
Moment moment_of(const RunningParts& running, std::int64_t step, Device where = Device::cpu);

/// Puts a run, or a second one of the same plan, back to a moment. Throws Error when formats or shapes differ.
void restore(const Moment& moment, const nn::Model& model, Optimizer& optimizer, LossScaler& scaler,
             const Float8Products& products, data::Loader& loader);

}  // namespace tinymp::train
