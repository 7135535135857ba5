#include <kernels/cpu/block.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {
namespace {

/// y = f(x), value by value.
template <class F>
void map(const View& x, const View& y, F&& f) {
  with_compute_type(y.dtype, [&]<class C> {
    for_blocks(y.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> in, out;
      const C* from = load(x, begin, n, in);
      C* to = target(y, begin, out);
      for (std::int64_t i = 0; i < n; ++i) to[i] = f(from[i]);
      store<C>(to, y, begin, n);
    });
  });
}

/// y = f(a, b), value by value.
template <class F>
void zip(const View& a, const View& b, const View& y, F&& f) {
  with_compute_type(y.dtype, [&]<class C> {
    for_blocks(y.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> left, right, out;
      const C* l = load(a, begin, n, left);
      const C* r = load(b, begin, n, right);
      C* to = target(y, begin, out);
      for (std::int64_t i = 0; i < n; ++i) to[i] = f(l[i], r[i]);
      store<C>(to, y, begin, n);
    });
  });
}

}  // namespace

void fill(const View& x, double value) {
  visit_dtype(x.dtype, [&]<class T> {
    T rounded{};
    convert(std::span<const double>(&value, 1), std::span<T>(&rounded, 1));
    std::fill_n(x.data<T>(), x.size(), rounded);
  });
}

void cast(const View& x, const View& y) {
  for_blocks(y.size(), [&](std::int64_t begin, std::int64_t n) {
    visit_dtype(x.dtype, [&]<class From> {
      visit_dtype(y.dtype, [&]<class To> {
        const auto count = static_cast<std::size_t>(n);
        convert(std::span<const From>(x.data<From>() + begin, count),
                std::span<To>(y.data<To>() + begin, count));
      });
    });
  });
}

void add(const View& a, const View& b, const View& y) {
  zip(a, b, y, [](auto p, auto q) { return p + q; });
}

void accumulate(const View& x, const View& y) {
  zip(y, x, y, [](auto p, auto q) { return p + q; });
}

void scale(const View& x, double factor, const View& y) {
  map(x, y, [factor](auto v) { return static_cast<decltype(v)>(factor) * v; });
}

void scale_by(const View& x, const View& factor, const View& y) {
  with_compute_type(factor.dtype, [&]<class C> { scale(x, static_cast<double>(*factor.data<C>()), y); });
}

void broadcast(const View& scalar, double divisor, const View& y) {
  with_compute_type(scalar.dtype,
                    [&]<class C> { fill(y, static_cast<double>(*scalar.data<C>()) / divisor); });
}

void unary(Unary f, const View& x, const View& y) {
  visit_unary(f, [&]<class F> { map(x, y, [](auto v) { return F::forward(v); }); });
}

void unary_backward(Unary f, const View& y, const View& dy, const View& dx) {
  visit_unary(f, [&]<class F> { zip(y, dy, dx, [](auto value, auto d) { return F::backward(value, d); }); });
}

void add_bias(const View& x, const View& bias, const View& y) {
  const std::int64_t columns = x.cols();
  with_compute_type(y.dtype, [&]<class C> {
    parallel_for(x.rows(), std::max<std::int64_t>(1, grain / std::max<std::int64_t>(columns, 1)),
                 [&](std::int64_t first, std::int64_t last) {
                   Block<C> in, added, out;
                   for (std::int64_t c = 0; c < columns; c += block_size) {
                     const std::int64_t n = std::min(block_size, columns - c);
                     const C* b = load(bias, c, n, added);
                     for (std::int64_t row = first; row < last; ++row) {
                       const C* from = load(x, row * columns + c, n, in);
                       C* to = target(y, row * columns + c, out);
                       for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] + b[i];
                       store<C>(to, y, row * columns + c, n);
                     }
                   }
                 });
  });
}

}  // namespace tinymp::kernels::cpu
