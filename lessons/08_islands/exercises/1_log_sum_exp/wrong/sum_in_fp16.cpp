// rejected: rounded to 16 bits|stops growing
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* row = x + r * columns;
    top[r] = largest_of(row, columns);
    half sum{};
    for (std::int64_t c = 0; c < columns; ++c)
      sum = half(static_cast<float>(sum) + static_cast<float>(exp(row[c] - top[r])));
    log_sum[r] = log(static_cast<C>(static_cast<float>(sum)));
  }
}
