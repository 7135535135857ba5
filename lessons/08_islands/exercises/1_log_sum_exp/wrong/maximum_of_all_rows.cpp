// rejected: belongs to another row
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  const C most = largest_of(x, rows * columns);
  for (std::int64_t i = 0; i < rows * columns; ++i) x[i] -= most;
  exp_all(rows * columns, x);
  sum_rows(x, rows, columns, log_sum);
  for (std::int64_t r = 0; r < rows; ++r) {
    top[r] = most;
    log_sum[r] = log(log_sum[r]);
  }
}
