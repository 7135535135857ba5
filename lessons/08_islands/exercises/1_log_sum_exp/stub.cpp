// Exercise 8.1: log sum exp, in FP32.
//
// `x` holds `rows` rows of `columns` logits, one row after the other: value c of row r is
// x[r * columns + c]. Write
//
//     top[r]     = the largest value of row r
//     log_sum[r] = log of the sum over c of exp(x[r * columns + c] - top[r])
//
// for r = 0 .. rows - 1. Their sum is log sum exp of the row. They stay two numbers: a float keeps only the
// first part of 10000000 + 0.693, and the loss needs the second. C is float, even for logits that are stored
// in FP16 or BF16: they are widened before. (For FP64 it is double.) That is the island: compute in C from
// here to the end.
//
//   - All finite logits, even 1000 or -1000, give finite results, right to some 7 digits.
//   - A logit of -infinity (a masked class) beside finite ones adds nothing. A NaN makes its own row NaN, and
//     no other row.
//   - You may overwrite x.
//
// You can use exp(v) and log(v) of a C, and largest_of(row, n), the largest of n values (NaN if one of them
// is); for speed also exp_all(n, x), which replaces n values by their exp, and
// sum_rows(x, rows, columns, sums).
//
// Cross-entropy calls it for a few hundred rows at a time; the loss of a row is (top - its label's logit) +
// log_sum.
template <class C>
void log_sum_exp_rows(C* x, std::int64_t rows, std::int64_t columns, C* top, C* log_sum) {
  // TODO: from the logits, not from 0.
  for (std::int64_t r = 0; r < rows; ++r) top[r] = log_sum[r] = C(0) * x[r * columns];
}
