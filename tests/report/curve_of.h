#pragma once

#include <lessons/lab/report/curves.h>
#include <string>

namespace tinymp::report {

/// 20 steps; NaN where `value` says so.
template <class Value>
Curve curve_of(const std::string& name, Value value) {
  Curve curve{.name = name, .seeds = 1};
  for (int step = 1; step <= 20; ++step) {
    curve.step.push_back(step);
    curve.mean.push_back(value(step));
  }
  curve.low = curve.high = curve.mean;
  return curve;
}

}  // namespace tinymp::report
