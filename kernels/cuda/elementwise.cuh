#pragma once

#include <kernels/cuda/values.h>

/// Kernels that work value by value. Their arithmetic is formulas/unary.h.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C, class F>
__global__ void map(F f, Values x, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, f(x.get<C>(i)));
}

template <class C, class F>
__global__ void zip(F f, Values a, Values b, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, f(a.get<C>(i), b.get<C>(i)));
}

/// y = f(x), in the type that values of `format` are computed in.
template <class F>
void run_map(F f, const View& x, const View& y, DType format) {
  if (y.size() == 0) return;
  with_compute_type(format, [&]<class C> {
    launch<map<C, F>>(blocks_for(y.size()), block_threads, 0, stream(), f, values(x), values(y), y.size());
  });
}

template <class F>
void run_zip(F f, const View& a, const View& b, const View& y) {
  if (y.size() == 0) return;
  with_compute_type(y.dtype, [&]<class C> {
    launch<zip<C, F>>(blocks_for(y.size()), block_threads, 0, stream(), f, values(a), values(b), values(y),
                      y.size());
  });
}

struct Same {
  template <class C>
  __device__ C operator()(C x) const {
    return x;
  }
};
struct Plus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a + b;
  }
};
struct Minus {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a - b;
  }
};
struct Product {
  template <class C>
  __device__ C operator()(C a, C b) const {
    return a * b;
  }
};
struct Times {
  double factor;
  template <class C>
  __device__ C operator()(C x) const {
    return static_cast<C>(factor) * x;
  }
};
struct TimesValue {
  Values factor;
  template <class C>
  __device__ C operator()(C x) const {
    return factor.get<C>(0) * x;
  }
};
template <class F>
struct Forward {
  template <class C>
  __device__ C operator()(C x) const {
    return F::forward(x);
  }
};
template <class F>
struct Backward {
  template <class C>
  __device__ C operator()(C y, C dy) const {
    return F::backward(y, dy);
  }
};

__global__ void fill_with(double value, Values x, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) x.set(i, value);
}

__global__ void fill_with_share(Values scalar, double divisor, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, scalar.get<double>(0) / divisor);
}

template <class C>
__global__ void add_to_rows(Values x, Values bias, Values y, std::int64_t n, std::int64_t columns) {
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, x.get<C>(i) + bias.get<C>(i % columns));
}

}  // namespace

void fill(const View& x, double value) {
  if (x.size() == 0) return;
  launch<fill_with>(blocks_for(x.size()), block_threads, 0, stream(), value, values(x), x.size());
}

void cast(const View& x, const View& y) {
  if (x.dtype != y.dtype) return run_map(Same(), x, y, x.dtype);
  allocator(Device::cuda)
      .copy_within(y.memory, x.memory, static_cast<std::size_t>(x.size()) * size_of(x.dtype));
}

void add(const View& a, const View& b, const View& y) { run_zip(Plus(), a, b, y); }
void subtract(const View& a, const View& b, const View& y) { run_zip(Minus(), a, b, y); }
void multiply(const View& a, const View& b, const View& y) { run_zip(Product(), a, b, y); }
void accumulate(const View& x, const View& y) { run_zip(Plus(), y, x, y); }
void scale(const View& x, double factor, const View& y) { run_map(Times{factor}, x, y, y.dtype); }
void scale_by(const View& x, const View& factor, const View& y) {
  run_map(TimesValue{values(factor)}, x, y, y.dtype);
}

void broadcast(const View& scalar, double divisor, const View& y) {
  if (y.size() == 0) return;
  launch<fill_with_share>(blocks_for(y.size()), block_threads, 0, stream(), values(scalar), divisor,
                          values(y), y.size());
}

void add_bias(const View& x, const View& bias, const View& y) {
  if (y.size() == 0) return;
  with_compute_type(y.dtype, [&]<class C> {
    launch<add_to_rows<C>>(blocks_for(y.size()), block_threads, 0, stream(), values(x), values(bias),
                           values(y), y.size(), y.cols());
  });
}

void unary(Unary f, const View& x, const View& y) {
  visit_unary(f, [&]<class F> { run_map(Forward<F>(), x, y, y.dtype); });
}
void unary_backward(Unary f, const View& y, const View& dy, const View& dx) {
  visit_unary(f, [&]<class F> { run_zip(Backward<F>(), y, dy, dx); });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
