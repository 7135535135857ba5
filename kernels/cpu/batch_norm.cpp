#include <kernels/cpu/column_sums.h>
#include <kernels/cpu/inverse_deviations.h>
#include <kernels/executors.h>
#include <kernels/formulas/norm.h>

namespace tinymp::kernels::cpu {
namespace {

/// The values of the columns of `strip`, repeated for each row of a block.
template <class C>
Block<C> for_each_row(const C* of_columns, const Strip& strip) {
  Block<C> repeated;
  std::copy_n(of_columns + strip.c, strip.n, repeated.data());
  repeat(repeated.data(), strip.n, strip.height);
  return repeated;
}

/// dy, and dy xhat
template <class C>
struct Errors {
  const View &x, &dy;
  Strip strip;
  Block<C> means, inverse, in, error, out;
  std::array<Terms<C>, 2> operator()(std::int64_t row, std::int64_t count) {
    const C* values = load_rows(x, row, count, strip, in);
    const C* d = load_rows(dy, row, count, strip, error);
    for_each_value<C>(count * strip.n,
                      [=, m = means.data(), by_deviation = inverse.data(), to = out.data()](std::int64_t i) {
                        to[i] = d[i] * BatchNorm::normalized(values[i], m[i], by_deviation[i]);
                      });
    return {{{d, strip.n}, {out.data(), strip.n}}};
  }
};

template <class C>
void divide(C* values, std::int64_t n, std::int64_t divisor) {
  for (std::int64_t i = 0; i < n; ++i) values[i] = values[i] / static_cast<C>(divisor);
}

}  // namespace

// <exercise batch_statistics>
namespace {

/// (x - mean)^2
template <class C>
struct Squares {
  const View& x;
  Strip strip;
  Block<C> means, in, out;
  std::array<Terms<C>, 1> operator()(std::int64_t row, std::int64_t count) {
    const C* values = load_rows(x, row, count, strip, in);
    for_each_value<C>(count * strip.n, [values, means = means.data(), out = out.data()](std::int64_t i) {
      out[i] = (values[i] - means[i]) * (values[i] - means[i]);
    });
    return {{{out.data(), strip.n}}};
  }
};

}  // namespace

void column_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  with_compute_type(x.dtype, [&]<class C> {
    C *m = mean.data<C>(), *v = variance.data<C>();
    sum_columns<C, 1>(x, sums, [&](const Strip& strip) { return EachValue<C>{x, strip, {}}; }, {m});
    divide(m, x.cols(), x.rows());
    sum_columns<C, 1>(x, sums,
                      [&](const Strip& strip) {
                        return Squares<C>{x, strip, for_each_row(m, strip), {}, {}};
                      },
                      {v});
    divide(v, x.cols(), x.rows());
  });
}
// </exercise batch_statistics>

void batch_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  with_compute_type(x.dtype, [&]<class C> {
    const std::int64_t columns = x.cols();
    const ByColumn<C> means(x, [&](C* to) { read(by.mean, 0, columns, to); });
    const ByColumn<C> inverses(x, [&](C* to) { inverse_deviations(by, to); });
    const ByColumn<C> gammas(x, [&](C* to) { read(gamma, 0, columns, to); });
    const ByColumn<C> betas(x, [&](C* to) { read(beta, 0, columns, to); });
    for_row_blocks(x, [&](std::int64_t begin, std::int64_t n, std::int64_t column) {
      Block<C> in, out;
      const C* from = load(x, begin, n, in);
      C* to = target(y, begin, out);
      const C *mean = means.from(column), *inverse = inverses.from(column);
      const C *g = gammas.from(column), *b = betas.from(column);
      for_each_value<C>(n, [=](std::int64_t i) {
        to[i] = BatchNorm::forward(BatchNorm::normalized(from[i], mean[i], inverse[i]), g[i], b[i]);
      });
      store<C>(to, y, begin, n);
    });
  });
}

void batch_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  with_compute_type(x.dtype, [&]<class C> {
    const Scratch<C> inverse(x.cols());
    inverse_deviations(by, inverse.data());
    sum_columns<C, 2>(x, sums,
                      [&](const Strip& strip) {
                        return Errors<C>{x,
                                         dy,
                                         strip,
                                         for_each_row(static_cast<const C*>(by.mean.data<C>()), strip),
                                         for_each_row(static_cast<const C*>(inverse.data()), strip),
                                         {},
                                         {},
                                         {}};
                      },
                      {dbeta.data<C>(), dgamma.data<C>()});
  });
}

void batch_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy, const View& dgamma,
                   const View& dbeta, const View& dx) {
  with_compute_type(x.dtype, [&]<class C> {
    const std::int64_t columns = x.cols(), rows = x.rows();
    const auto share_of_rows = [&](const View& sum) {
      return [&](C* to) {
        read(sum, 0, columns, to);
        divide(to, columns, rows);
      };
    };
    const ByColumn<C> means(x, [&](C* to) { read(by.mean, 0, columns, to); });
    const ByColumn<C> inverses(x, [&](C* to) { inverse_deviations(by, to); });
    const ByColumn<C> gammas(x, [&](C* to) { read(gamma, 0, columns, to); });
    const ByColumn<C> mean_errors(x, share_of_rows(dbeta)), mean_products(x, share_of_rows(dgamma));
    for_row_blocks(x, [&](std::int64_t begin, std::int64_t n, std::int64_t column) {
      Block<C> in, error, out;
      const C* from = load(x, begin, n, in);
      const C* d = load(dy, begin, n, error);
      C* to = target(dx, begin, out);
      const C *mean = means.from(column), *inverse = inverses.from(column), *g = gammas.from(column);
      const C *of_dy = mean_errors.from(column), *of_products = mean_products.from(column);
      for_each_value<C>(n, [=](std::int64_t i) {
        const C xhat = BatchNorm::normalized(from[i], mean[i], inverse[i]);
        to[i] = BatchNorm::backward(xhat, inverse[i], g[i], d[i], of_dy[i], of_products[i]);
      });
      store<C>(to, dx, begin, n);
    });
  });
}

}  // namespace tinymp::kernels::cpu
