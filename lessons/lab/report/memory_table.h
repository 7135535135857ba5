#pragma once

#include <lessons/lab/report/table.h>
#include <optional>
#include <span>
#include <string>

/// The memory that runs took, by kind, as their logs have it.
namespace tinymp::report {

/// Peaks in bytes: means over the runs of a group that measured them.
struct MemoryFigures {
  double weights = 0, masters = 0, optimizer = 0, gradients = 0, activations = 0, workspace = 0;
  double scratch = 0;  ///< of kernels; 0 in older logs, where it is among the workspace
  double peak = 0;     ///< of the sum

  double state() const { return weights + masters + optimizer + gradients; }
};

/// Nothing when no run measured it.
std::optional<MemoryFigures> memory_of(const Group& group);

/// One row for each group that measured it, in the unit that fits the largest peak; 80 columns hold it.
Table memory_table(std::span<const Group> groups);
/// What the table's words mean. Groups of the same model, optimizer and samples a step are compared: with FP32, of a
/// recomputation with the run without, of micro-batches with the whole batch. Empty for an empty table.
std::string memory_note(std::span<const Group> groups);

/// "at most 1.53 MB: weights 203 kB, masters 407 kB, ..."; empty when it was not measured.
std::string memory_line(const train::RunResult& result);

}  // namespace tinymp::report
