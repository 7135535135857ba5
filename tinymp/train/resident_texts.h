#pragma once

#include <kernels/kernels.h>
#include <tinymp/data/loader.h>
#include <tinymp/train/step.h>
#include <cstdint>
#include <optional>

namespace tinymp::train {

/// The texts of an epoch on the device that trains. It makes the batches of a loader there, bit for bit, so that a step
/// needs nothing from the CPU. An epoch costs one copy: its tokens in their order, with what is asked of them.
class ResidentTexts {
 public:
  /// Throws Error when the device has no room for the text.
  /// A step reads `micro_batches` of `batch` texts each.
  ResidentTexts(const data::TextExamples& texts, std::int64_t batch, std::int64_t micro_batches,
                Device device);

  /// Makes next() return the batches that `loader` would, once the device has recorded `steps` steps. Copies the texts of an
  /// epoch when the loader has begun another one.
  void follow(const data::Loader& loader, std::int64_t steps);

  /// Starts a micro-batch of the step after those in `records`.
  data::Batch next(const StepRecords& records, std::int64_t micro_batch) const;

 private:
  void copy(const data::TextRows& rows) const;

  data::TextExamples texts_;
  std::int64_t batch_, micro_batches_;
  Storage tokens_, labels_;         ///< of an epoch
  std::optional<Storage> asked_{};  ///< with masks: places in a batch
  DeviceValue<std::int64_t> before_;
  std::optional<std::int64_t> epoch_{}, first_{};  ///< of the texts on the device, and what `before_` says
};

}  // namespace tinymp::train
