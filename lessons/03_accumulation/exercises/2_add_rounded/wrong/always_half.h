// rejected: rounds the sums to half, whatever .format. says
inline void add_rounded(const Terms<float>& terms, std::int64_t rows, std::int64_t n, DType, float* sums) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < n; ++i)
      sums[i] = static_cast<float>(half(sums[i] + terms.values[row * terms.stride + i]));
  }
}
