#pragma once

#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/train/eight_bit_meter.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/meters.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

/// One training step. A run takes it; the search for what broke a run takes the same step again.
namespace tinymp::train {

/// What a step measures besides taking it.
struct StepMeters {
  Shadow* shadow = nullptr;                         ///< the FP32 model to compare with, or null
  bool counts_flushed = false;                      ///< needs the shadow
  bool norm = false;                                ///< takes the norm of the gradients
  bool histograms = false;                          ///< counts the sizes of gradients and updates
  bool eight_bits = false;                          ///< counts what FP8 loses of the operands of products
  NonfiniteTracer* tracer = nullptr;                ///< traces infinities and NaN; null: no tracing
  Observer* observer = nullptr;                     ///< sees the ops; beside a tracer or eight_bits: Error
  std::function<void(const Gradients&)> updated{};  ///< called after the optimizer's step, taken or skipped
};

/// What the CPU knows of a step that the device may still be computing. The rest is in its record on the device.
struct PendingStep {
  std::int64_t number;
  double flushed;
  float lr;
  bool has_norm;
  std::optional<StepSizes> sizes{};
  std::optional<NarrowedTensor> worst{};  ///< EightBitMeter::worst()
};

using StepRecords = DeviceValue<kernels::StepRecords>;

class RankSum;  // rank_sum.h

/// The batches of a step, on the device of the plan: get(0), get(1), ... Each goes forward and backward before the next one
/// is made, so that the activations of one take memory at a time.
struct MicroBatches {
  std::vector<std::int64_t> sizes;  ///< the samples of each
  std::function<data::Batch(std::int64_t)> get;
  RankSum* ranks = nullptr;  ///< the processes that share them; null: this one takes all
};
/// Those of the plan: they are equally large.
std::vector<std::int64_t> equal_sizes(const Plan& plan);
/// Those that come next in the loader; skip() it behind the step.
MicroBatches next_of(const data::Loader& loader, const Plan& plan);

/// Starts a step at the current learning rate of the optimizer. The device adds its record to `records`. Gradients of
/// micro-batches add up; the optimizer takes one step with the mean over their samples.
PendingStep start_step(const Plan& plan, std::int64_t number, const nn::Model& model, Optimizer& optimizer,
                       LossScaler& scaler, const Float8Products& products, const StepMeters& meters,
                       const MicroBatches& batches, const StepRecords& records);

}  // namespace tinymp::train
