// rejected: belongs into top
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  exp_all(rows * columns, x);
  sum_rows(x, rows, columns, log_sum);
  for (std::int64_t r = 0; r < rows; ++r) {
    top[r] = 0;
    log_sum[r] = log(log_sum[r]);
  }
}
