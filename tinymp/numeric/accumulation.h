#pragma once

#include <tinymp/numeric/dtype.h>
#include <cstdint>

namespace tinymp {

/// How a long sum is kept: in which format, and in one chain or several. The default: in FP32, in the order
/// of kernels/formulas/row_chunks.h.
struct Accumulation {
  DType format = DType::f32;  ///< of every sum: f32 or f16
  std::int64_t chunk = 0;     ///< terms that are summed among themselves first; 0: an FP16 sum is one chain

  bool operator==(const Accumulation&) const = default;
};

}  // namespace tinymp
