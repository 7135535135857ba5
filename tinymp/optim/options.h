#pragma once

#include <tinymp/base/error.h>
#include <cmath>
#include <string_view>

namespace tinymp {

inline void expect_not_negative(std::string_view what, double value) {
  expect(std::isfinite(value) && value >= 0, what, " is ", value, "; it must be a finite number, 0 or above");
}

inline void expect_fraction(std::string_view what, double value) {
  expect(value >= 0 && value < 1, what, " is ", value, "; it must be at least 0 and below 1");
}

}  // namespace tinymp
