// Exercise 8.2: the statistics of batch norm, in FP32.
//
// x has B rows and O columns (x.rows(), x.cols()), in any format. Write for each column c
//
//     mean[c]     = (sum over the rows of x[b][c]) / B
//     variance[c] = (sum over the rows of (x[b][c] - mean[c])^2) / B
//
// C is float (double for FP64 x): FP16 values are widened first, and mean and variance are stored as C.
// `sums` is the format of the two long sums; pass it on (lesson 03 sets it to FP16).
//
// You can use sum_columns<C, 1>(x, sums, terms, {to}): it adds up the terms that `terms` makes of the rows,
// for each column, and writes the sums to to[0] .. to[x.cols() - 1]. EachValue<C> makes the values
// themselves; you write what Squares makes. divide(values, n, by) divides n values. The deviations need the
// mean, so there are two passes.
namespace {

template <class C>
struct Squares {
  const View& x;
  Strip strip;
  Block<C> means, in, out;
  std::array<Terms<C>, 1> operator()(std::int64_t row, std::int64_t count) {
    const C* values = load_rows(x, row, count, strip, in);
    for_each_value<C>(count * strip.n, [=, m = means.data(), to = out.data()](std::int64_t i) {
      // TODO: what values[i] adds to the variance; m[i] is the mean of its column.
      to[i] = values[i];
    });
    return {{{out.data(), strip.n}}};
  }
};

}  // namespace

void column_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  with_compute_type(x.dtype, [&]<class C> {
    C *m = mean.data<C>(), *v = variance.data<C>();
    sum_columns<C, 1>(x, sums, [&](const Strip& strip) { return EachValue<C>{x, strip, {}}; }, {m});
    // TODO: m holds the sums of the columns.
    sum_columns<C, 1>(x, sums,
                      [&](const Strip& strip) {
                        return Squares<C>{x, strip, for_each_row(m, strip), {}, {}};
                      },
                      {v});
    // TODO: v holds the sums of what Squares makes.
  });
}
