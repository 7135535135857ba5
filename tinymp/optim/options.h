#pragma once

#include <tinymp/base/error.h>
#include <cmath>

namespace tinymp {

inline void expect_not_negative(const char* what, double value) {
  expect(std::isfinite(value) && value >= 0, what, " is ", value, "; it must be a finite number, 0 or above");
}

inline void expect_fraction(const char* what, double value) {
  expect(value >= 0 && value < 1, what, " is ", value, "; it must be at least 0 and below 1");
}

}  // namespace tinymp
