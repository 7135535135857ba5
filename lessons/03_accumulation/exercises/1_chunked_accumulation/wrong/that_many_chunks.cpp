// rejected: makes .chunk. chunks
template <class Sum>
Sum chain(const float* a, const float* b, std::int64_t n) {
  Sum sum{};
  for (std::int64_t k = 0; k < n; ++k) sum = static_cast<Sum>(std::fma(a[k], b[k], static_cast<float>(sum)));
  return sum;
}

template <class Sum>
Sum chunks(const float* a, const float* b, std::int64_t n, std::int64_t chunk) {
  if (chunk == 0) return chain<Sum>(a, b, n);
  const std::int64_t length = (n + chunk - 1) / chunk;
  Sum total{};
  for (std::int64_t k = 0; k < n; k += length) total += chain<Sum>(a + k, b + k, std::min(length, n - k));
  return total;
}
