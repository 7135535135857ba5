#pragma once

#include <cstdint>
#include <type_traits>

/// What a training step finds, decides and reports. These live on the device of the parameters.
namespace tinymp::kernels {

/// What unscale finds in a pass over the gradients. Exact counts.
struct GradientCounts {
  std::int64_t values = 0;
  std::int64_t nonfinite = 0;
  std::int64_t zeros = 0;
  std::int64_t subnormals = 0;  ///< not zero, below the smallest normal number of the format

  GradientCounts& operator+=(const GradientCounts& other) {
    values += other.values;
    nonfinite += other.nonfinite;
    zeros += other.zeros;
    subnormals += other.subnormals;
    return *this;
  }
};

/// What the narrow format flushed. Where the shadow is zero too, nothing was lost.
struct FlushCounts {
  std::int64_t values = 0;   ///< not zero in the shadow
  std::int64_t flushed = 0;  ///< of those: zero in x

  FlushCounts& operator+=(const FlushCounts& other) {
    values += other.values;
    flushed += other.flushed;
    return *this;
  }
};

/// Updates that did not change a weight, out of those that were not zero in FP32. Only nearest rounding rounds an update
/// apart, so only there one underflows. Rounded toward zero or stochastically, an update is absorbed if the weight kept
/// its value; under stochastic rounding others of the same size move it, in proportion. Kahan's is absorbed if neither
/// the weight nor its compensation changed.
struct UpdateCounts {
  std::int64_t values = 0;       ///< updates not zero in FP32
  std::int64_t underflowed = 0;  ///< zero when rounded to the master's format
  std::int64_t absorbed = 0;     ///< not zero, but weight - update rounds back to the weight

  UpdateCounts& operator+=(const UpdateCounts& other) {
    values += other.values;
    underflowed += other.underflowed;
    absorbed += other.absorbed;
    return *this;
  }
};

/// What the blocks of a GPU count together in one pass over the arenas. All is 0 between two passes. The CPU needs none.
struct PassCounts {
  std::uint32_t blocks = 0;  ///< blocks that have finished
  GradientCounts gradients;
  UpdateCounts updates;
};

/// What an optimizer keeps beside its arenas.
struct StepState {
  std::int64_t steps = 0;  ///< taken so far
  float lr = 0;
  float correction1 = 1, correction2 = 1;  ///< of Adam's moments, in this step
};

/// What became of one step.
struct StepOutcome {
  bool taken = false;
  std::uint8_t unused[7] = {};  ///< in place of padding: all that a GPU copies out was written
  UpdateCounts updates;         ///< of a step that was taken
};
static_assert(std::has_unique_object_representations_v<StepOutcome>);

/// What a run reads of a step.
struct StepRecord {
  double loss = 0, scale = 1;
  double norm = 0;  ///< of all unscaled gradients; 0 where it was not taken
  GradientCounts found;
  StepOutcome outcome;
};

/// The records of the last steps of a run lie side by side, so that one copy brings them all.
struct StepRecords {
  static constexpr std::int64_t kept = 64;
  StepRecord at[kept];     ///< the record of step t, counted from 0, is at[t % kept]
  std::int64_t steps = 0;  ///< steps that were recorded
};

}  // namespace tinymp::kernels
