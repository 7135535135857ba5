// Exercise 14.3: a mask that survives FP16.
//
// `x` holds `rows` rows of `columns` scores of attention, one row after the other: score c of row r is x[r * columns + c]. Each
// row is a query, each column a key. The rows are a part of all rows: row r here is row first + r of the mask, and sees the
// keys 0 .. seen - 1, where
//
//     seen = mask.seen_by(first + r, columns)      0 .. columns: causal and the length of its text are in it already
//
// Replace each row by its softmax over what it sees:
//
//     share[c] = exp(scale * x[c] - top) / sum of exp(scale * x[k] - top) over k < seen        for c < seen
//     share[c] = 0                                                                             for all others
//
// where `top` is the largest scale * x[c] of those that are seen. Any number is right in theory, and only this one never
// overflows and never leaves a sum of 0. scale is above 0. C is float, also for scores in FP16 and BF16; for FP64 it is double.
//
//   - Nobody knows what lies behind `seen`: large numbers, infinities, NaN. No share depends on it, so no mask may be
//     multiplied with it, or added to it: 0 x infinity is NaN.
//   - A row that sees nothing, padding for example, is all 0, and not NaN.
//   - Finite scores of any size give shares that add up to 1, however far they lie apart.
//   - A NaN or +infinity that is seen gives NaN to all shares of what its row sees, and so does a row that sees -infinity alone:
//     infinity - infinity. The formula does that by itself; hide none of them. All others of the row are 0, as ever.
//
// You can use exp(v) of a C, largest<C>(row, n), the largest of n values (NaN if one of them is), and
// long_lane_sum<C>(n, [row](std::int64_t i) { return row[i]; }), their sum. For speed: exp_all(n, x) replaces n values by their
// exp.
template <class C>
void masked_softmax(C* x, std::int64_t first, std::int64_t rows, std::int64_t columns,
                    const AttentionMask& mask, C scale) {
  for (std::int64_t r = 0; r < rows; ++r) {
    C* row = x + r * columns;
    const std::int64_t seen = mask.seen_by(first + r, columns);
    const C far = -std::numeric_limits<C>::infinity();  // FP16 has it for -1e9
    // TODO: scores + (1 - m) * -1e9, as in many a model, is no mask for FP16.
    for (std::int64_t c = 0; c < columns; ++c) row[c] = scale * row[c] + C(c < seen ? 0 : 1) * far;
    const C top = largest<C>(row, columns);
    for (std::int64_t c = 0; c < columns; ++c) row[c] = exp(row[c] - top);
    const C sum = long_lane_sum<C>(columns, [row](std::int64_t c) { return row[c]; });
    for (std::int64_t c = 0; c < columns; ++c) row[c] /= sum;
  }
}
