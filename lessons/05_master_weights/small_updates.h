#pragma once

#include <lessons/05_master_weights/fine_tuning.h>
#include <string>
#include <vector>

/// What the runs of fine-tuning say, for lesson 05 and quickstart.
namespace tinymp::lab {

/// One value a seed.
struct SmallUpdates {
  std::vector<double> fp32{}, fp16_weights{}, fp16_master{};  ///< test accuracy (%)
  double lost = train::not_measured;                          ///< share of updates lost with FP16 weights
};
SmallUpdates measured_small_updates(const Lab& lab);

/// Two sentences. Their words follow the figures: they say the opposite when the figures do.
std::string verdict_on(const SmallUpdates& measured);

}  // namespace tinymp::lab
