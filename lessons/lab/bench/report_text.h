#pragma once

#include <lessons/lab/bench/race.h>
#include <lessons/lab/report/number.h>
#include <nlohmann/json.hpp>
#include <string>

/// Writes the figures of a CPU, in tables and as JSON.
namespace tinymp::kernels::bench {

/// Three digits: "0.0123", "4.56", "123", "1234"; "-" when it was not measured (0).
inline std::string digits(double x) {
  return x > 0 ? report::fixed(x, x < 0.1 ? 4 : x < 1 ? 3 : x < 10 ? 2 : x < 100 ? 1 : 0) : "-";
}
inline std::string percent(double share) { return share > 0 ? report::fixed(100 * share, 0) + " %" : "-"; }
/// A ratio: "1.07x" is 1.07 times as fast.
inline std::string times(double ratio) { return ratio > 0 ? report::fixed(ratio, 2) + "x" : "-"; }
inline double quotient(double a, double b) { return a > 0 && b > 0 ? a / b : 0; }

inline nlohmann::ordered_json or_null(double x) {
  return x > 0 ? nlohmann::ordered_json(x) : nlohmann::ordered_json(nullptr);
}
inline nlohmann::ordered_json timing_json(const Timing& timing) {
  return {{"milliseconds", or_null(1e3 * timing.median)},
          {"fastest_milliseconds", or_null(1e3 * timing.fastest)},
          {"samples", timing.samples},
          {"runs_a_sample", timing.runs}};
}

}  // namespace tinymp::kernels::bench
