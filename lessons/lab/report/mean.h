#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::report {

/// A mean that is finite where the values are, even if their sum is not; NaN of nothing.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    small_sum_ += value * small;
    ++count_;
  }
  int count() const { return count_; }
  double value() const {
    using Limits = std::numeric_limits<double>;
    if (count_ == 0) return Limits::quiet_NaN();
    if (std::isfinite(sum_) || !std::isfinite(small_sum_)) return sum_ / count_;
    return std::clamp(small_sum_ / count_ / small, Limits::lowest(), Limits::max());
  }

 private:
  static constexpr double small = 0x1p-64;
  double sum_ = 0, small_sum_ = 0;
  int count_ = 0;
};

}  // namespace tinymp::report
