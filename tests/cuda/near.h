#pragma once

#include <tests/catch.h>
#include <tinymp/tensor/tensor.h>
#include <cmath>
#include <span>

/// What tensor cores computed beside what the CPU did. Their sums have another order, and are cut off.
namespace tinymp::test {

/// Where one is not finite, so is the other.
inline void check_near(std::span<const double> there, std::span<const double> here, double allowed) {
  REQUIRE(there.size() == here.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (there[i] == here[i] || (std::isnan(there[i]) && std::isnan(here[i]))) continue;
    INFO("number " << i);
    REQUIRE(std::fabs(there[i] - here[i]) <= allowed);
  }
}
inline void check_near(const Tensor& there, const Tensor& here, double allowed) {
  check_near(there.to_doubles(), here.to_doubles(), allowed);
}

}  // namespace tinymp::test
