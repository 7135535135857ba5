// rejected: rounds once, at the end. An FP16
inline void add_rounded(const Terms<float>& terms, std::int64_t rows, std::int64_t n, DType format,
                        float* sums) {
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) sum += terms.values[row * terms.stride + i];
    sums[i] += sum;
  }
  round_to(format, sums, n);
}
