#include <kernels/numerics/accumulate.h>
#include <algorithm>
#include <cmath>

namespace tinymp::kernels {
namespace {

// <exercise chunked_accumulation>
template <class Sum>
Sum chain(const float* a, const float* b, std::int64_t n) {
  Sum sum{};
  for (std::int64_t k = 0; k < n; ++k) sum = static_cast<Sum>(std::fma(a[k], b[k], static_cast<float>(sum)));
  return sum;
}

template <class Sum>
Sum chunks(const float* a, const float* b, std::int64_t n, std::int64_t chunk) {
  if (chunk == 0) chunk = n;
  Sum total{};
  for (std::int64_t k = 0; k < n; k += chunk) total += chain<Sum>(a + k, b + k, std::min(chunk, n - k));
  return total;
}
// </exercise chunked_accumulation>

}  // namespace

float dot(const float* a, const float* b, std::int64_t n, const Accumulation& how) {
  expect(how.chunk >= 0, "dot: a chunk of ", how.chunk, " products; give 0 (one chain) or more");
  if (how.format == DType::f32) return chunks<float>(a, b, n, how.chunk);
  expect(how.format == DType::f16, "dot: sums are kept in f32 or f16, not ", how.format);
  return static_cast<float>(chunks<half>(a, b, n, how.chunk));
}

}  // namespace tinymp::kernels
