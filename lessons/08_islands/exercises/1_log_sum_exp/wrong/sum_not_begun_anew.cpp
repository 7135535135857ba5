// rejected: belongs to another row
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* log_sum) {
  const C top = largest_of(x, columns);
  C sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) sum += exp(x[r * columns + c] - top);
    log_sum[r] = top + log(sum);
  }
}
