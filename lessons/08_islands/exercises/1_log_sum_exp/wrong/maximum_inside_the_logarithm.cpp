// rejected: inside of the logarithm
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* row = x + r * columns;
    top[r] = largest_of(row, columns);
    C sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += exp(row[c] - top[r]);
    log_sum[r] = log(top[r] + sum);
  }
}
