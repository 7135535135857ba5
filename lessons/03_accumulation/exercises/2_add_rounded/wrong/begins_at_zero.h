// rejected: begins the sums at 0 again
inline void add_rounded(const Terms<float>& terms, std::int64_t rows, std::int64_t n, DType format,
                        float* sums) {
  for (std::int64_t i = 0; i < n; ++i) sums[i] = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += terms.values[row * terms.stride + i];
    round_to(format, sums, n);
  }
}
