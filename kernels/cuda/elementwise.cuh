#pragma once

#include <kernels/cuda/float8.h>
#include <kernels/cuda/packs.h>

/// Kernels that work value by value. Their arithmetic is formulas/unary.h.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

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
  Values factor;  ///< of one value
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

/// A function as a thread uses it, which loads what it needs once.
template <class C, class F>
__device__ F ready(F f) {
  return f;
}
template <class C>
__device__ Times ready(TimesValue f) {
  return {static_cast<double>(f.factor.get<C>(0))};
}

template <class F, class X, class Y>
__global__ void map(F function, const X* x, Y* y, Packs packs) {
  using C = ComputeType<X>;
  const auto f = ready<C>(function);
  const auto value = [&](X v) { return device_converted<Y>(f(device_converted<C>(v))); };
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<X> in = load_pack(x, p);
        Pack<Y> out;
        TINYMP_UNROLL
        for (int k = 0; k < pack_values; ++k) out.at[k] = value(in.at[k]);
        store_pack(y, p, out);
      },
      [&](std::int64_t i) { y[i] = value(x[i]); });
}

template <class F, class A, class B, class Y>
__global__ void zip(F f, const A* a, const B* b, Y* y, Packs packs) {
  using C = ComputeType<Y>;
  const auto value = [&](A p, B q) {
    return device_converted<Y>(f(device_converted<C>(p), device_converted<C>(q)));
  };
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<A> left = load_pack(a, p);
        const Pack<B> right = load_pack(b, p);
        Pack<Y> out;
        TINYMP_UNROLL
        for (int k = 0; k < pack_values; ++k) out.at[k] = value(left.at[k], right.at[k]);
        store_pack(y, p, out);
      },
      [&](std::int64_t i) { y[i] = value(a[i], b[i]); });
}

/// y = f(x), for values of X and Y.
template <class X, class Y, class F>
void launch_map(F f, const View& x, const View& y) {
  const Packs packs = packs_of(y.size(), {x.memory, y.memory});
  launch<map<F, X, Y>>(blocks_for(packs), block_threads, 0, stream(), f, x.data<X>(), y.data<Y>(), packs);
}
template <class A, class B, class Y, class F>
void launch_zip(F f, const View& a, const View& b, const View& y) {
  const Packs packs = packs_of(y.size(), {a.memory, b.memory, y.memory});
  launch<zip<F, A, B, Y>>(blocks_for(packs), block_threads, 0, stream(), f, a.data<A>(), b.data<B>(),
                          y.data<Y>(), packs);
}

/// The same for views of one format.
template <class F>
void run_map(F f, const View& x, const View& y) {
  expect_one_format(x, y);
  if (y.size() == 0) return;
  visit_dtype(y.dtype, [&]<class T> { launch_map<T, T>(f, x, y); });
}
template <class F>
void run_zip(F f, const View& a, const View& b, const View& y) {
  expect_one_format(a, y);
  expect_one_format(b, y);
  if (y.size() == 0) return;
  visit_dtype(y.dtype, [&]<class T> { launch_zip<T, T, T>(f, a, b, y); });
}

template <class Y>
__global__ void fill_with(Y value, Y* y, Packs packs) {
  Pack<Y> all;
  for (Y& one : all.at) one = value;
  for_packs(
      packs, [&](std::int64_t p) { store_pack(y, p, all); }, [&](std::int64_t i) { y[i] = value; });
}

template <class Y>
__global__ void fill_with_share(Values scalar, double divisor, Y* y, Packs packs) {
  const Y value = converted<Y>(scalar.get<double>(0) / divisor);
  Pack<Y> all;
  for (Y& one : all.at) one = value;
  for_packs(
      packs, [&](std::int64_t p) { store_pack(y, p, all); }, [&](std::int64_t i) { y[i] = value; });
}

/// `columns` is a multiple of a pack wherever there are packs, so a pack lies in one row.
template <class T>
__global__ void add_to_rows(const T* x, const T* bias, T* y, Packs packs, std::int64_t columns) {
  using C = ComputeType<T>;
  const auto sum = [](T a, T b) {
    return device_converted<T>(device_converted<C>(a) + device_converted<C>(b));
  };
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<T> in = load_pack(x, p), by = load_pack(bias, p % (columns / pack_values));
        Pack<T> out;
        TINYMP_UNROLL
        for (int k = 0; k < pack_values; ++k) out.at[k] = sum(in.at[k], by.at[k]);
        store_pack(y, p, out);
      },
      [&](std::int64_t i) { y[i] = sum(x[i], bias[i % columns]); });
}

}  // namespace

void fill(const View& x, double value) {
  if (x.size() == 0) return;
  visit_dtype(x.dtype, [&]<class T> {
    const Packs packs = packs_of(x.size(), {x.memory});
    launch<fill_with<T>>(blocks_for(packs), block_threads, 0, stream(), converted<T>(value), x.data<T>(),
                         packs);
  });
}

void cast(const View& x, const View& y) {
  if (x.memory == y.memory && x.dtype == y.dtype) return;
  if (x.dtype == y.dtype) {
    allocator(Device::cuda)
        .copy_within(y.memory, x.memory, static_cast<std::size_t>(x.size()) * size_of(x.dtype));
  } else if (!has_arithmetic(x.dtype) || !has_arithmetic(y.dtype)) {
    cast_float8(x, y);
  } else if (x.size() > 0) {
    visit_dtype(x.dtype, [&]<class X> {
      visit_dtype(y.dtype, [&]<class Y> {
        if constexpr (!std::is_same_v<X, Y>) launch_map<X, Y>(Same(), x, y);
      });
    });
  }
}

void add(const View& a, const View& b, const View& y) { run_zip(Plus(), a, b, y); }
void subtract(const View& a, const View& b, const View& y) { run_zip(Minus(), a, b, y); }
void multiply(const View& a, const View& b, const View& y) { run_zip(Product(), a, b, y); }
void scale(const View& x, double factor, const View& y) { run_map(Times{factor}, x, y); }
void scale_by(const View& x, const View& factor, const View& y) { run_map(TimesValue{values(factor)}, x, y); }

void accumulate(const View& x, const View& y) {
  if (y.size() == 0) return;
  visit_dtype(y.dtype,
              [&]<class Y> { visit_dtype(x.dtype, [&]<class X> { launch_zip<Y, X, Y>(Plus(), y, x, y); }); });
}

void broadcast(const View& scalar, double divisor, const View& y) {
  if (y.size() == 0) return;
  visit_dtype(y.dtype, [&]<class T> {
    const Packs packs = packs_of(y.size(), {y.memory});
    launch<fill_with_share<T>>(blocks_for(packs), block_threads, 0, stream(), values(scalar), divisor,
                               y.data<T>(), packs);
  });
}

void add_bias(const View& x, const View& bias, const View& y) {
  expect_one_format(x, y);
  expect_one_format(bias, y);
  if (y.size() == 0) return;
  visit_dtype(y.dtype, [&]<class T> {
    const Packs packs = packs_in_rows(y.size(), y.cols(), {x.memory, bias.memory, y.memory});
    launch<add_to_rows<T>>(blocks_for(packs), block_threads, 0, stream(), x.data<T>(), bias.data<T>(),
                           y.data<T>(), packs, y.cols());
  });
}

void unary(Unary f, const View& x, const View& y) {
  visit_unary(f, [&]<class F> { run_map(Forward<F>(), x, y); });
}
void unary_backward(Unary f, const View& y, const View& dy, const View& dx) {
  visit_unary(f, [&]<class F> { run_zip(Backward<F>(), y, dy, dx); });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
