#pragma once

#include <kernels/kernels.h>
#include <tests/numeric/half_oracle.h>
#include <tinymp/base/rng.h>
#include <tinymp/tensor/tensor.h>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

/// What a matrix multiplication ought to give, said without the library: the chain of fused multiply-adds
/// step by step on doubles, and the sum itself in long double.
namespace tinymp::test {

using kernels::Trans;

/// A matrix multiplication to try: c:(M,N) = op(a) . op(b).
struct Product {
  std::int64_t M = 0, N = 0, K = 0;
  Trans ta = Trans::no, tb = Trans::no;
  DType dtype = DType::f32, accumulate = DType::f32;

  Shape a_shape() const { return ta == Trans::no ? Shape{M, K} : Shape{K, M}; }
  Shape b_shape() const { return tb == Trans::no ? Shape{K, N} : Shape{N, K}; }
  double a_at(const std::vector<double>& a, std::int64_t m, std::int64_t k) const {
    return a[static_cast<std::size_t>(ta == Trans::no ? m * K + k : k * M + m)];
  }
  double b_at(const std::vector<double>& b, std::int64_t k, std::int64_t n) const {
    return b[static_cast<std::size_t>(tb == Trans::no ? k * N + n : n * K + k)];
  }
};

inline std::ostream& operator<<(std::ostream& out, const Product& p) {
  return out << "(" << p.M << "," << p.N << ") = (" << p.M << "," << p.K << ")(" << p.K << "," << p.N << ")"
             << (p.ta == Trans::yes ? " a transposed" : "") << (p.tb == Trans::yes ? " b transposed" : "")
             << ", " << p.dtype << ", sums in " << p.accumulate;
}

inline const std::vector<Product>& four_transpositions() {
  static const std::vector<Product> four{{.ta = Trans::no, .tb = Trans::no},
                                         {.ta = Trans::no, .tb = Trans::yes},
                                         {.ta = Trans::yes, .tb = Trans::no},
                                         {.ta = Trans::yes, .tb = Trans::yes}};
  return four;
}

/// The float nearest to a b + c, rounded once. a b is exact in double; the sum is rounded "to odd" first
/// (Boldo and Melquiond 2008), which double rounding does no harm.
inline float fused_multiply_add_oracle(double a, double b, double c) {
  const double product = a * b, sum = product + c;
  if (!std::isfinite(sum)) return static_cast<float>(sum);
  const double part = sum - product, error = (product - (sum - part)) + (c - part);  // Knuth's two-sum: exact
  if (error == 0 || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return static_cast<float>(sum);
  const double infinity = std::numeric_limits<double>::infinity();
  return static_cast<float>(std::nextafter(sum, error > 0 ? infinity : -infinity));
}

/// c by the chain of kernels.h, as doubles.
inline std::vector<double> chain_oracle(const Product& p, const std::vector<double>& a,
                                        const std::vector<double>& b) {
  std::vector<double> c;
  for (std::int64_t m = 0; m < p.M; ++m) {
    for (std::int64_t n = 0; n < p.N; ++n) {
      double sum = 0;
      for (std::int64_t k = 0; k < p.K; ++k) {
        sum = static_cast<double>(fused_multiply_add_oracle(p.a_at(a, m, k), p.b_at(b, k, n), sum));
        if (p.accumulate == DType::f16) sum = round_to_half(sum);
      }
      c.push_back(p.dtype == DType::f16    ? round_to_half(sum)
                  : p.dtype == DType::bf16 ? round_to_bfloat16(sum)
                                           : sum);
    }
  }
  return c;
}

/// `size` values whose exponents differ, so that the order of a sum shows.
inline Tensor random_matrix(Shape shape, DType dtype, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) {
    const float significand = rng.uniform(-1, 1);
    v = std::ldexp(significand, static_cast<int>(rng.below(8)) - 4);
  }
  if (dtype != DType::f64) return Tensor::from(shape, values, dtype);
  const std::vector<double> wide(values.begin(), values.end());
  return Tensor::from(shape, std::span<const double>(wide));
}

using Gemm = void (*)(const View&, Trans, const View&, Trans, const View&, DType);
inline void plain_gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  kernels::gemm(a, ta, b, tb, c, accumulate, {});
}

/// c as `gemm` computes it. The output starts as a NaN that no matmul makes, so that what is not written
/// shows.
inline Tensor multiply(Gemm gemm, const Product& p, const Tensor& a, const Tensor& b) {
  Tensor c({p.M, p.N}, p.dtype);
  kernels::fill(c.view(), std::numeric_limits<double>::quiet_NaN());
  gemm(a.view(), p.ta, b.view(), p.tb, c.view(), p.accumulate);
  return c;
}

/// Bit for bit; any NaN equals any other, but in f16, which has one.
inline bool same(const Tensor& x, const Tensor& y) {
  if (x.dtype() != y.dtype() || !(x.shape() == y.shape())) return false;
  if (x.dtype() == DType::f16) {
    for (std::int64_t i = 0; i < x.size(); ++i) {
      if (x.data<half>()[i].bits() != y.data<half>()[i].bits()) return false;
    }
    return true;
  }
  const std::vector<double> left = x.to_doubles(), right = y.to_doubles();
  for (std::size_t i = 0; i < left.size(); ++i) {
    const bool both_nan = std::isnan(left[i]) && std::isnan(right[i]);
    if (!both_nan && std::bit_cast<std::uint64_t>(left[i]) != std::bit_cast<std::uint64_t>(right[i]))
      return false;
  }
  return true;
}

}  // namespace tinymp::test
