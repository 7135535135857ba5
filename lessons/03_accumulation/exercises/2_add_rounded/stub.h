// Exercise 3.2: sums that are kept in FP16.
//
// Batch norm adds rows of n terms to n sums, one row after the other. Term i of row `row` is
// terms.values[row * terms.stride + i], and it is added to sums[i]. The sums start from their present values.
// Terms and sums are stored as float. The terms have all their digits. The sums are those of an accumulator
// in `format`, DType::f16 or DType::bf16: after each addition the sum is a number of that format.
//
// round_to(format, x, n) rounds n floats from x on, in place.
inline void add_rounded(const Terms<float>& terms, std::int64_t rows, std::int64_t n,
                        [[maybe_unused]] DType format, float* sums) {
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < n; ++i) sums[i] += terms.values[row * terms.stride + i];
    // TODO: this is an accumulator in FP32.
  }
}
