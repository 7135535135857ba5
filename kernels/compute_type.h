#pragma once

#include <tinymp/numeric/dtype.h>

namespace tinymp::kernels {

/// Calls f.operator()<C>() with the C++ type that values of a format are computed in: float for f16, bf16 and
/// f32, double for f64.
template <class F>
void with_compute_type(DType dtype, F&& f) {
  if (dtype == DType::f64) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

}  // namespace tinymp::kernels
