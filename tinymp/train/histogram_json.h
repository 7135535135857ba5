#pragma once

#include <tinymp/train/histogram.h>
#include <nlohmann/json_fwd.hpp>

/// The sizes of a step in a run log: run_log.h shows a line.
namespace tinymp::train {

nlohmann::ordered_json json_of(const StepSizes& sizes);

/// Throws nlohmann::json::exception, or Error, when json_of cannot have made `json`.
StepSizes sizes_from(const nlohmann::json& json);

}  // namespace tinymp::train
