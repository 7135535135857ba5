#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/mean.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::report {

/// What several values have in common, of the seeds at one step or of neighbouring steps.
struct Spread {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  Mean values;
  double sum_of_logs = 0;  ///< of a scale

  void add(double value, Quantity quantity) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
    values.add(value);
    if (quantity == Quantity::scale) sum_of_logs += tinymp::log(value);
  }

  /// Loss scales differ by factors: the middle of 1024 and 65536 is 8192.
  double mean(Quantity quantity) const {
    if (low == high) return low;
    if (quantity == Quantity::scale && low > 0 && values.count() > 0)
      return tinymp::exp(sum_of_logs / values.count());
    return values.value();
  }
};

}  // namespace tinymp::report
