#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/numeric/half.h>
#include <cstdint>
#include <type_traits>

namespace tinymp::kernels {

/// Rows whose values are summed among themselves first, when a column of `rows` is summed. "One chain" is one
/// as long as an FP16 sum shows what becomes of it; in FP32 it ends after 4096 rows, where the next begins
/// (and a thread may go on with that): a chain of 4096 terms is as good as one of a million, or better.
TINYMP_HD inline std::int64_t rows_in_chunk(const Accumulation& how, std::int64_t rows) {
  if (how.chunk != 0) return how.chunk;
  if (how.format != DType::f16) return 4096;
  return rows > 0 ? rows : 1;
}

/// The sum of term(i) for i < n, down a column or along a row: a chain for each chunk, each addition rounded
/// to the format of the sums, then chunk after chunk. f64 is never rounded.
template <class C, class Terms>
TINYMP_HD C sum_in_chunks(std::int64_t n, const Accumulation& how, const Terms& term) {
  const bool narrow = std::is_same_v<C, float> && how.format == DType::f16;
  const auto rounded = [&](C x) {
    return narrow ? static_cast<C>(static_cast<float>(half(static_cast<float>(x)))) : x;
  };
  const std::int64_t chunk = rows_in_chunk(how, n);
  C total = 0;
  for (std::int64_t begin = 0; begin < n; begin += chunk) {
    C sum = 0;
    const std::int64_t end = begin + chunk < n ? begin + chunk : n;
    for (std::int64_t i = begin; i < end; ++i) sum = rounded(sum + term(i));
    total = rounded(total + sum);
  }
  return total;
}

}  // namespace tinymp::kernels
