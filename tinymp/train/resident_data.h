#pragma once

#include <kernels/kernels.h>
#include <tinymp/data/loader.h>
#include <tinymp/train/step.h>
#include <cstdint>
#include <memory>
#include <optional>

namespace tinymp::train {

/// A data set on the device that trains. It makes the batches of a loader there, bit for bit, so that a step needs nothing
/// from the CPU. An epoch costs one copy: its order.
class ResidentData {
 public:
  /// `format` is that of the images in a batch. Throws Error when the device has no room for the data set.
  /// A step reads `micro_batches` of `batch` images each.
  ResidentData(const data::Dataset& dataset, const data::LoaderOptions& options, std::int64_t batch,
               std::int64_t micro_batches, DType format, Device device);

  /// Makes next() return the batches that `loader` would, once the device has recorded `steps` steps. Copies the order of an
  /// epoch when the loader has begun another one.
  void follow(const data::Loader& loader, std::int64_t steps);

  /// Starts a micro-batch of the step after those in `records`.
  data::Batch next(const StepRecords& records, std::int64_t micro_batch) const;

 private:
  Storage images_, labels_, levels_, order_;
  DeviceValue<std::int64_t> before_;
  data::ImageShape shape_;
  data::LoaderOptions options_;
  std::int64_t batch_, micro_batches_;
  DType format_;
  std::int32_t largest_label_;
  std::optional<std::int64_t> epoch_, first_;  ///< of the order on the device, and what `before_` says
};

}  // namespace tinymp::train
