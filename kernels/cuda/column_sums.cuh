#pragma once

#include <kernels/row_chunks.h>
#include <kernels/cuda/values.cuh>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// The sum of term(row) down one column: a chain for each chunk of rows, each addition rounded to the format
/// of the sums, then chunk after chunk. The order, and so the bits, of the CPU.
template <class C, class Terms>
__device__ C sum_rows(std::int64_t rows, const Accumulation& how, const Terms& term) {
  const Values format{nullptr, how.format};
  const auto rounded = [&](C x) {
    if constexpr (std::is_same_v<C, float>) return format.rounded(x);
    return x;
  };
  const std::int64_t chunk = rows_in_chunk(how, rows);
  C total = 0;
  for (std::int64_t begin = 0; begin < rows; begin += chunk) {
    C sum = 0;
    const std::int64_t end = begin + chunk < rows ? begin + chunk : rows;
    for (std::int64_t row = begin; row < end; ++row) sum = rounded(sum + term(row));
    total = rounded(total + sum);
  }
  return total;
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
