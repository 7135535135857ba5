#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

/// A number in a run log. JSON has no NaN and no infinity: they are the strings "nan", "inf" and "-inf".
namespace tinymp::train {

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

}  // namespace tinymp::train
