#include <kernels/cpu/block.h>
#include <kernels/executors.h>

/// Sums go down the rows for 64 columns at a time: the order of each is fixed, whatever the number of
/// threads.
namespace tinymp::kernels::cpu {
namespace {

constexpr std::int64_t width = 64;
template <class C>
using Strip = std::array<C, width>;

/// Calls body(c, n) for the columns c .. c + n of each strip.
template <class F>
void for_strips(const View& x, F&& body) {
  const std::int64_t columns = x.cols();
  parallel_for((columns + width - 1) / width, x.rows() * width < grain ? grain : 1,
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t c = first * width; c < std::min(last * width, columns); c += width)
                   body(c, std::min(width, columns - c));
               });
}

/// sum = sum + terms, each addition rounded to the format of the sums.
void add_rounded(std::int64_t n, const float* terms, DType format, Strip<float>& sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[static_cast<std::size_t>(i)] += terms[i];
  round_to(format, sum.data(), n);
}
void add_rounded(std::int64_t n, const double* terms, DType, Strip<double>& sum) {
  for (std::int64_t i = 0; i < n; ++i) sum[static_cast<std::size_t>(i)] += terms[i];
}

/// The sum of terms(row), n values, over all rows. One chain is a single chunk: 0 + sum is the sum.
template <class C, class Terms>
Strip<C> sum_rows(std::int64_t rows, std::int64_t n, const Accumulation& how, Terms&& terms) {
  const std::int64_t chunk = how.chunk == 0 ? std::max<std::int64_t>(rows, 1) : how.chunk;
  Strip<C> total{};
  for (std::int64_t begin = 0; begin < rows; begin += chunk) {
    Strip<C> sum{};
    const std::int64_t end = std::min(begin + chunk, rows);
    for (std::int64_t row = begin; row < end; ++row) add_rounded(n, terms(row), how.format, sum);
    add_rounded(n, sum.data(), how.format, total);
  }
  return total;
}

/// Calls body(c, n, first, last) for rows first .. last of the columns c .. c + n.
template <class F>
void for_rows(const View& x, F&& body) {
  const std::int64_t columns = x.cols();
  parallel_for(x.rows(), std::max<std::int64_t>(1, grain / std::max<std::int64_t>(columns, 1)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t c = 0; c < columns; c += block_size)
                   body(c, std::min(block_size, columns - c), first, last);
               });
}

/// 1 / sqrt(variance + epsilon) of columns c .. c + n.
template <class C>
void inverse_deviations(const Normalizer& by, std::int64_t c, std::int64_t n, C* inverse) {
  const C* variance = by.variance.data<C>() + c;
  for (std::int64_t i = 0; i < n; ++i)
    inverse[i] = BatchNorm::inverse_deviation(variance[i], static_cast<C>(by.epsilon));
}

}  // namespace

void column_moments(const View& x, const Accumulation& sums, const View& mean, const View& variance) {
  const std::int64_t rows = x.rows(), columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_strips(x, [&](std::int64_t c, std::int64_t n) {
      Block<C> in;
      const auto row_of_x = [&](std::int64_t row) { return load(x, row * columns + c, n, in); };
      C* m = mean.data<C>() + c;
      const Strip<C> sum = sum_rows<C>(rows, n, sums, row_of_x);
      for (std::int64_t i = 0; i < n; ++i) m[i] = sum[static_cast<std::size_t>(i)] / static_cast<C>(rows);

      Strip<C> squares;
      const Strip<C> around = sum_rows<C>(rows, n, sums, [&](std::int64_t row) {
        const C* values = row_of_x(row);
        for (std::int64_t i = 0; i < n; ++i)
          squares[static_cast<std::size_t>(i)] = (values[i] - m[i]) * (values[i] - m[i]);
        return squares.data();
      });
      C* v = variance.data<C>() + c;
      for (std::int64_t i = 0; i < n; ++i) v[i] = around[static_cast<std::size_t>(i)] / static_cast<C>(rows);
    });
  });
}

void batch_norm(const View& x, const Normalizer& by, const View& gamma, const View& beta, const View& y) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_rows(x, [&](std::int64_t c, std::int64_t n, std::int64_t first, std::int64_t last) {
      Block<C> inverse, gammas, betas, in, out;
      inverse_deviations(by, c, n, inverse.data());
      const C* mean = by.mean.data<C>() + c;
      const C* g = load(gamma, c, n, gammas);
      const C* b = load(beta, c, n, betas);
      for (std::int64_t row = first; row < last; ++row) {
        const C* from = load(x, row * columns + c, n, in);
        C* to = target(y, row * columns + c, out);
        for (std::int64_t i = 0; i < n; ++i)
          to[i] = BatchNorm::forward(
              BatchNorm::normalized(from[i], mean[i], inverse[static_cast<std::size_t>(i)]), g[i], b[i]);
        store<C>(to, y, row * columns + c, n);
      }
    });
  });
}

void batch_norm_sums(const View& x, const Normalizer& by, const View& dy, const Accumulation& sums,
                     const View& dgamma, const View& dbeta) {
  const std::int64_t rows = x.rows(), columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    for_strips(x, [&](std::int64_t c, std::int64_t n) {
      Block<C> in, error;
      Strip<C> inverse, products;
      inverse_deviations(by, c, n, inverse.data());
      const C* mean = by.mean.data<C>() + c;
      const auto row_of_dy = [&](std::int64_t row) { return load(dy, row * columns + c, n, error); };
      const Strip<C> of_dy = sum_rows<C>(rows, n, sums, row_of_dy);
      const Strip<C> of_products = sum_rows<C>(rows, n, sums, [&](std::int64_t row) {
        const C* values = load(x, row * columns + c, n, in);
        const C* d = row_of_dy(row);
        for (std::int64_t i = 0; i < n; ++i) {
          const auto at = static_cast<std::size_t>(i);
          products[at] = d[i] * BatchNorm::normalized(values[i], mean[i], inverse[at]);
        }
        return products.data();
      });
      store<C>(of_dy.data(), dbeta, c, n);
      store<C>(of_products.data(), dgamma, c, n);
    });
  });
}

void batch_norm_dx(const View& x, const Normalizer& by, const View& gamma, const View& dy, const View& dgamma,
                   const View& dbeta, const View& dx) {
  const std::int64_t columns = x.cols();
  with_compute_type(x.dtype, [&]<class C> {
    const C rows = static_cast<C>(x.rows());
    for_rows(x, [&](std::int64_t c, std::int64_t n, std::int64_t first, std::int64_t last) {
      Block<C> inverse, gammas, in, error, out;
      inverse_deviations(by, c, n, inverse.data());
      const C* mean = by.mean.data<C>() + c;
      const C* of_dy = dbeta.data<C>() + c;
      const C* of_products = dgamma.data<C>() + c;
      const C* g = load(gamma, c, n, gammas);
      for (std::int64_t row = first; row < last; ++row) {
        const C* from = load(x, row * columns + c, n, in);
        const C* d = load(dy, row * columns + c, n, error);
        C* to = target(dx, row * columns + c, out);
        for (std::int64_t i = 0; i < n; ++i) {
          const C by_deviation = inverse[static_cast<std::size_t>(i)];
          const C xhat = BatchNorm::normalized(from[i], mean[i], by_deviation);
          to[i] = BatchNorm::backward(xhat, by_deviation, g[i], d[i], of_dy[i] / rows, of_products[i] / rows);
        }
        store<C>(to, dx, row * columns + c, n);
      }
    });
  });
}

}  // namespace tinymp::kernels::cpu
