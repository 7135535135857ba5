// rejected: not keep the sums as `sums` says
namespace {

template <class C>
struct Squares {
  const View& x;
  Strip strip;
  Block<C> means, in, out;
  std::array<Terms<C>, 1> operator()(std::int64_t row, std::int64_t count) {
    const C* values = load_rows(x, row, count, strip, in);
    for_each_value<C>(count * strip.n, [=, m = means.data(), to = out.data()](std::int64_t i) {
      to[i] = (values[i] - m[i]) * (values[i] - m[i]);
    });
    return {{{out.data(), strip.n}}};
  }
};

}  // namespace

void column_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  with_compute_type(x.dtype, [&]<class C> {
    C *m = mean.data<C>(), *v = variance.data<C>();
    sum_columns<C, 1>(x, Accumulation{}, [&](const Strip& strip) { return EachValue<C>{x, strip, {}}; }, {m});
    divide(m, x.cols(), x.rows());
    sum_columns<C, 1>(x, Accumulation{},
                      [&](const Strip& strip) {
                        return Squares<C>{x, strip, for_each_row(m, strip), {}, {}};
                      },
                      {v});
    divide(v, x.cols(), x.rows());
  });
}
