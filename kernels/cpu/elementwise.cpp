#include <kernels/cpu/rows.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {
namespace {

/// y = f(x), value by value.
template <class F>
void map(const View& x, const View& y, const F& f) {
  with_compute_type(y.dtype, [&]<class C> {
    for_blocks<C>(
        y.size(),
        [&](std::int64_t begin, std::int64_t n) {
          Block<C> in, out;
          const C* from = load(x, begin, n, in);
          C* to = target(y, begin, out);
          for_each_value<C>(n, [=](std::int64_t i) { to[i] = f(from[i]); });
          store<C>(to, y, begin, n);
        },
        x, y);
  });
}

/// y = f(a, b), value by value.
template <class F>
void zip(const View& a, const View& b, const View& y, const F& f) {
  with_compute_type(y.dtype, [&]<class C> {
    for_blocks<C>(
        y.size(),
        [&](std::int64_t begin, std::int64_t n) {
          Block<C> left, right, out;
          const C* l = load(a, begin, n, left);
          const C* r = load(b, begin, n, right);
          C* to = target(y, begin, out);
          for_each_value<C>(n, [=](std::int64_t i) { to[i] = f(l[i], r[i]); });
          store<C>(to, y, begin, n);
        },
        a, b, y);
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
  if (x.memory == y.memory && x.dtype == y.dtype) return;
  parallel_for(y.size(), grain, [&](std::int64_t begin, std::int64_t end) {
    const auto n = static_cast<std::size_t>(end - begin);
    visit_any_dtype(x.dtype, [&]<class From> {
      visit_any_dtype(y.dtype, [&]<class To> {
        convert(std::span<const From>(x.data<From>() + begin, n), std::span<To>(y.data<To>() + begin, n));
      });
    });
  });
}

void add(const View& a, const View& b, const View& y) {
  zip(a, b, y, [](auto p, auto q) { return p + q; });
}

void subtract(const View& a, const View& b, const View& y) {
  zip(a, b, y, [](auto p, auto q) { return p - q; });
}

void multiply(const View& a, const View& b, const View& y) {
  zip(a, b, y, [](auto p, auto q) { return p * q; });
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

void unary_backward_and_sums(Unary f, const View& y, const View& dy, const View& dx, const View& sums) {
  unary_backward(f, y, dy, dx);
  column_sums(dx, sums);
}

void add_bias(const View& x, const View& bias, const View& y) {
  with_compute_type(y.dtype, [&]<class C> {
    const ByColumn<C> biases(x, [&](C* to) { read(bias, 0, x.cols(), to); });
    for_row_blocks(x, [&](std::int64_t begin, std::int64_t n, std::int64_t column) {
      Block<C> in, out;
      const C* from = load(x, begin, n, in);
      const C* b = biases.from(column);
      C* to = target(y, begin, out);
      for_each_value<C>(n, [=](std::int64_t i) { to[i] = from[i] + b[i]; });
      store<C>(to, y, begin, n);
    });
  });
}

}  // namespace tinymp::kernels::cpu
