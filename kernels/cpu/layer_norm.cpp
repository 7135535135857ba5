#include <kernels/cpu/column_sums.h>
#include <kernels/cpu/inverse_deviations.h>
#include <kernels/cpu/rows.h>
#include <kernels/executors.h>
#include <kernels/formulas/norm.h>

namespace tinymp::kernels::cpu {
namespace {

/// All of a small tensor, as C.
template <class C>
struct AllOf : Scratch<C> {
  explicit AllOf(const View& x) : Scratch<C>(x.size()) { read(x, 0, x.size(), this->data()); }
};

template <class C>
struct Inverses : Scratch<C> {
  explicit Inverses(const Normalizer& by) : Scratch<C>(by.variance.size()) {
    inverse_deviations(by, this->data());
  }
};

/// dy, and dy xhat
template <class C>
struct Errors {
  const View &x, &dy;
  Strip strip;
  const C *mean, *inverse;  ///< of each row
  Block<C> in, error, out;
  std::array<Terms<C>, 2> operator()(std::int64_t row, std::int64_t count) {
    const C* values = load_rows(x, row, count, strip, in);
    const C* d = load_rows(dy, row, count, strip, error);
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t i = r * strip.n; i < (r + 1) * strip.n; ++i)
        out.data()[i] = d[i] * BatchNorm::normalized(values[i], mean[row + r], inverse[row + r]);
    }
    return {{{d, strip.n}, {out.data(), strip.n}}};
  }
};

}  // namespace

void row_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_row_groups<C>(
        x, [&, m = mean.data<C>(), v = variance.data<C>()](std::int64_t b, std::int64_t rows, C* values) {
          read(x, b * columns, rows * columns, values);
          for (std::int64_t r = 0; r < rows; ++r) {
            const RowMoments<C> found = row_moments_of<C>(values + r * columns, columns, sums);
            m[b + r] = found.mean;
            v[b + r] = found.variance;
          }
        });
  });
}

void layer_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    const Inverses<C> inverses(by);
    const AllOf<C> gammas(gamma), betas(beta);
    for_row_groups<C>(x, [&](std::int64_t b, std::int64_t rows, C* values) {
      read(x, b * columns, rows * columns, values);
      for (std::int64_t r = 0; r < rows; ++r) {
        C* row = values + r * columns;
        const C mean = by.mean.data<C>()[b + r], inverse = inverses.data()[b + r];
        for_each_value<C>(columns, [=, g = gammas.data(), shift = betas.data()](std::int64_t c) {
          row[c] = BatchNorm::forward(BatchNorm::normalized(row[c], mean, inverse), g[c], shift[c]);
        });
      }
      store<C>(values, y, b * columns, rows * columns);
    });
  });
}

void layer_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  with_compute_type(x.dtype, [&]<class C> {
    const Inverses<C> inverses(by);
    sum_columns<C, 2>(x, sums,
                      [&](const Strip& strip) {
                        return Errors<C>{x, dy, strip, by.mean.data<C>(), inverses.data(), {}, {}, {}};
                      },
                      {dbeta.data<C>(), dgamma.data<C>()});
  });
}

void layer_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy,
                   const Accumulation& sums, const View& dx) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    const Inverses<C> inverses(by);
    const AllOf<C> gammas(gamma);
    for_row_groups<C, 2>(x, [&](std::int64_t b, std::int64_t rows, C* values, C* errors) {
      read(x, b * columns, rows * columns, values);
      read(dy, b * columns, rows * columns, errors);
      for (std::int64_t r = 0; r < rows; ++r) {
        C *v = values + r * columns, *d = errors + r * columns;
        const C mean = by.mean.data<C>()[b + r], inverse = inverses.data()[b + r];
        for_each_value<C>(columns, [=, g = gammas.data()](std::int64_t c) {
          v[c] = BatchNorm::normalized(v[c], mean, inverse);
          d[c] = g[c] * d[c];
        });
        layer_norm_dx_row<C>(
            columns, sums, inverse, [=](std::int64_t c) { return v[c]; },
            [=](std::int64_t c) { return d[c]; }, [=](std::int64_t c, C value) { d[c] = value; });
      }
      store<C>(errors, dx, b * columns, rows * columns);
    });
  });
}

}  // namespace tinymp::kernels::cpu
