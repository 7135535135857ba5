// rejected: exp overflowed
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* log_sum) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* row = x + r * columns;
    const C top = row[0];
    C sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += exp(row[c] - top);
    log_sum[r] = top + log(sum);
  }
}
