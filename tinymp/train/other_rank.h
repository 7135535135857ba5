#pragma once

#include <tinymp/train/training.h>
#include <cstdint>

/// The ranks besides the first. Rank 0 is the run: it writes the log and the checkpoints, and measures.
namespace tinymp::train {

/// Takes the steps of the plan after `step` together with rank 0, up to the last one or the one that `stop` makes the last.
void take_part(const Plan& plan, TrainedParts& parts, std::int64_t step);

}  // namespace tinymp::train
