// rejected: belongs to another row
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  C sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    top[r] = largest_of(x + r * columns, columns);
    for (std::int64_t c = 0; c < columns; ++c) sum += exp(x[r * columns + c] - top[r]);
    log_sum[r] = log(sum);
  }
}
