#pragma once

#include <tinymp/train/step.h>
#include <utility>
#include <vector>

namespace tinymp::train {

/// A step with what the device recorded of it.
struct DoneStep {
  PendingStep step;
  kernels::StepRecord recorded{};
};

/// Steps that the device may still be computing.
class PendingSteps {
 public:
  /// How many steps the device may lag behind the loop.
  static constexpr std::int64_t most = kernels::StepRecords::kept;

  explicit PendingSteps(Device device) : records_(device, kernels::StepRecords()) {}

  const StepRecords& records() const { return records_; }
  std::int64_t all() const { return all_; }  ///< steps that were added so far
  /// At most so many until they are taken.
  void add(PendingStep started) {
    steps_.push_back({std::move(started)});
    ++all_;
  }

  /// Waits for the device.
  std::vector<DoneStep> take() {
    const kernels::StepRecords records = records_.read();
    std::int64_t at = all_ - static_cast<std::int64_t>(steps_.size());
    for (DoneStep& done : steps_) done.recorded = records.at[at++ % most];
    return std::exchange(steps_, {});
  }

 private:
  StepRecords records_;
  std::vector<DoneStep> steps_;
  std::int64_t all_ = 0;
};

}  // namespace tinymp::train
