// rejected: ignores the chunk
template <class Sum>
Sum chain(const float* a, const float* b, std::int64_t n) {
  Sum sum{};
  for (std::int64_t k = 0; k < n; ++k) sum = static_cast<Sum>(std::fma(a[k], b[k], static_cast<float>(sum)));
  return sum;
}

template <class Sum>
Sum chunks(const float* a, const float* b, std::int64_t n, std::int64_t chunk) {
  if (chunk == 0) return chain<Sum>(a, b, n);
  Sum total{};
  for (std::int64_t begin = 0; begin < n; begin += chunk) {
    const std::int64_t end = std::min(begin + chunk, n);
    for (std::int64_t k = begin; k < end; ++k)
      total = static_cast<Sum>(std::fma(a[k], b[k], static_cast<float>(total)));
  }
  return total;
}
