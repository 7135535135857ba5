// rejected: not the largest value of the row
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* row = x + r * columns;
    top[r] = 0;
    for (std::int64_t c = 0; c < columns; ++c) top[r] = std::max(top[r], row[c]);
    C sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += exp(row[c] - top[r]);
    log_sum[r] = log(sum);
  }
}
