#pragma once

#include <tinymp/train/histogram.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

/// What the writer and the reader of a run log share: numbers, and the sizes
/// of a step. run_log.h shows a line.
namespace tinymp::train {

/// A number in a run log. JSON has no NaN and no infinity: they are the strings "nan", "inf" and "-inf".
inline nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Returns nothing when the value is no number.
inline std::optional<double> number_from(const nlohmann::json& json) {
  using Limits = std::numeric_limits<double>;
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return Limits::quiet_NaN();
  if (json == "inf") return Limits::infinity();
  if (json == "-inf") return -Limits::infinity();
  return std::nullopt;
}

nlohmann::ordered_json json_of(const StepSizes& sizes);

/// Throws nlohmann::json::exception, or Error, when json_of cannot have made `json`.
StepSizes sizes_from(const nlohmann::json& json);

}  // namespace tinymp::train
