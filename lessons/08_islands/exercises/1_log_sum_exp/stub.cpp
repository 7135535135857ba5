// Exercise 8.1: log sum exp, in FP32.
//
// `x` holds `rows` rows of `columns` logits, one row behind the other: value c of row r is
// x[r * columns + c]. Write
//
//     log_sum[r] = log of the sum over c of exp(x[r * columns + c])
//
// for r = 0 .. rows - 1. C is float, also for logits that are stored in FP16 or BF16: they have been widened.
// (For FP64 it is double.) That is the island: compute in C from here to the end.
//
//   - Any finite logits, 1000 or -1000 too, have a finite result, right to some 7 digits.
//   - A logit of -infinity (a masked class) beside finite ones adds nothing. A NaN makes its row NaN, and no
//     other.
//   - x may be overwritten.
//
// At hand: exp(v) and log(v) of a C, largest_of(row, n), the largest of n values (NaN where one of them is);
// and for speed exp_all(n, x), which makes exp(x[i]) of all n values, and sum_rows(x, rows, columns, sums).
//
// Cross-entropy calls it for a few hundred rows at a time; the loss of a row is log_sum - its label's logit.
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* log_sum) {
  // TODO: from the logits, not from 0.
  for (std::int64_t r = 0; r < rows; ++r) log_sum[r] = C(0) * x[r * columns];
}
