// rejected: sums a chunk in FP32 and rounds it once
template <class Sum>
Sum chain(const float* a, const float* b, std::int64_t n) {
  float sum = 0;
  for (std::int64_t k = 0; k < n; ++k) sum = std::fma(a[k], b[k], sum);
  return static_cast<Sum>(sum);
}

template <class Sum>
Sum chunks(const float* a, const float* b, std::int64_t n, std::int64_t chunk) {
  if (chunk == 0) return chain<Sum>(a, b, n);
  Sum total{};
  for (std::int64_t k = 0; k < n; k += chunk) total += chain<Sum>(a + k, b + k, std::min(chunk, n - k));
  return total;
}
