#pragma once

#include <lessons/05_master_weights/fine_tuning.h>
#include <string>
#include <vector>

/// The results of the fine-tuning runs in numbers and words, for lesson 05 and quickstart.
namespace tinymp::lab {

/// Each list has one value for each seed. `lost` is one number, the mean over the logged steps of all seeds.
struct SmallUpdates {
  std::vector<double> fp32{}, fp16_weights{}, fp16_master{};  ///< test accuracy (%)
  double lost = train::not_measured;                          ///< share of updates lost with FP16 weights
};
SmallUpdates measured_small_updates(const Lab& lab);

/// Returns a verdict in words. It begins with "No", "In part" or "Yes, here", as the measured numbers say. It is
/// "Not measured." if FP32 or FP16 weights were not run, and "No answer: ..." if FP32 itself ended in NaN.
std::string verdict_on(const SmallUpdates& measured);

}  // namespace tinymp::lab
