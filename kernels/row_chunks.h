#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/accumulation.h>
#include <cstdint>

namespace tinymp::kernels {

/// Rows whose values are summed among themselves first, when a column of `rows` is summed. "One chain" is one
/// as long as an FP16 sum shows what becomes of it; in FP32 it ends after 4096 rows, where the next begins
/// (and a thread may go on with that): a chain of 4096 terms is as good as one of a million, or better.
TINYMP_HD inline std::int64_t rows_in_chunk(const Accumulation& how, std::int64_t rows) {
  if (how.chunk != 0) return how.chunk;
  if (how.format != DType::f16) return 4096;
  return rows > 0 ? rows : 1;
}

}  // namespace tinymp::kernels
