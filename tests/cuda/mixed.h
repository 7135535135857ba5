#pragma once

#include <tests/kernels/rig.h>
#include <cmath>
#include <vector>

namespace tinymp::test {

inline constexpr DType formats[] = {DType::f32, DType::f16, DType::bf16, DType::f64};

/// Numbers of all sizes, both zeros, infinities and NaN.
inline Tensor mixed(std::int64_t n, DType dtype, std::uint64_t seed) {
  constexpr double special[] = {0.0,  -0.0,   1e-7,  -3e-8,    65504,     65520,
                                1e30, -1e-40, 1e-44, INFINITY, -INFINITY, NAN};
  Rng rng(seed);
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 3 == 0 ? special[i / 3 % std::size(special)] : static_cast<double>(rng.uniform(-4, 4));
  return from(values, dtype);
}

}  // namespace tinymp::test
