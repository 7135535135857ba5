#pragma once

#include <tinymp/numeric/dtype.h>
#include <cstdint>

namespace tinymp {

/// The format of a long sum, and the number of terms in each of its chains. By default the sum is FP32 and
/// has the order of kernels/formulas/row_chunks.h.
struct Accumulation {
  DType format = DType::f32;  ///< the format of every sum: f32 or f16
  std::int64_t chunk = 0;     ///< terms that are summed among themselves first; 0: an FP16 sum is one chain

  bool operator==(const Accumulation&) const = default;
};

}  // namespace tinymp
