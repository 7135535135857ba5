#pragma once

#include <kernels/kernels.h>
#include <tests/ops/rounding.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/tensor/tensor.h>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

/// Small tools for tests of kernels.
namespace tinymp::test {

inline Tensor from(const std::vector<double>& values, DType dtype) {
  if (dtype == DType::f64)
    return Tensor::from({static_cast<std::int64_t>(values.size())}, std::span<const double>(values));
  const std::vector<float> narrow(values.begin(), values.end());
  return Tensor::from({static_cast<std::int64_t>(values.size())}, narrow, dtype);
}

inline Tensor drawn(Shape shape, DType dtype, std::uint64_t seed, float spread = 4) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(-spread, spread);
  if (dtype != DType::f64) return Tensor::from(shape, values, dtype);
  const std::vector<double> wide(values.begin(), values.end());
  return Tensor::from(shape, std::span<const double>(wide));
}

/// Every half there is, NaN included.
inline Tensor all_halves() {
  Tensor x({65536}, DType::f16);
  for (int i = 0; i < 65536; ++i) x.data<half>()[i] = half::from_bits(static_cast<std::uint16_t>(i));
  return x;
}

inline bool bits_equal(const Tensor& x, const Tensor& y) {
  if (x.dtype() != y.dtype() || !(x.shape() == y.shape())) return false;
  const std::vector<double> left = x.to_doubles(), right = y.to_doubles();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!same_bits(left[i], right[i])) return false;
  }
  return true;
}

/// The order of row_chunks.h, written down again: 16 lanes for each 1024 terms and a tree; then the sums of
/// those, in the same way.
template <class C>
C sum_in_lanes(std::vector<C> terms) {
  do {
    std::vector<C> sums;
    for (std::size_t begin = 0; begin == 0 || begin < terms.size(); begin += 1024) {
      C lanes[16] = {};
      for (std::size_t i = begin; i < std::min(begin + 1024, terms.size()); ++i)
        lanes[(i - begin) % 16] += terms[i];
      for (const int width : {8, 4, 2, 1}) {
        for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
      }
      sums.push_back(lanes[0]);
    }
    terms = sums;
  } while (terms.size() > 1);
  return terms[0];
}

/// Down a column, `terms` as they are added: each addition in FP32, then rounded to the format of the sums;
/// f64 all in f64.
inline double sum_in_order(const std::vector<double>& terms, const Accumulation& how, bool f64) {
  const auto add = [&](double sum, double term) {
    if (f64) return sum + term;
    const float in_f32 = static_cast<float>(sum) + static_cast<float>(term);
    return rounded_to(how.format, static_cast<long double>(in_f32));
  };
  const bool one_chain = how.chunk == 0 && how.format == DType::f16;
  const auto chunk = static_cast<std::size_t>(how.chunk == 0 ? 128 : how.chunk);
  double total = 0;
  for (std::size_t begin = 0; begin < terms.size();) {
    const std::size_t end = one_chain ? terms.size() : std::min(begin + chunk, terms.size());
    double sum = 0;
    for (; begin < end; ++begin) sum = add(sum, terms[begin]);
    total = add(total, sum);
  }
  return total;
}

/// Along a row.
inline double sum_of_row(const std::vector<double>& terms, const Accumulation& how, bool f64) {
  if (!(how == Accumulation{})) return sum_in_order(terms, how, f64);
  if (f64) return sum_in_lanes(terms);
  return static_cast<double>(sum_in_lanes(std::vector<float>(terms.begin(), terms.end())));
}

/// f() gives the same bits for 1, 2, 3 and 7 threads.
template <class F>
bool same_for_all_threads(F&& f) {
  const int usual = threads();
  set_threads(1);
  const Tensor alone = f();
  bool same = true;
  for (const int count : {2, 3, 7}) {
    set_threads(count);
    same = same && bits_equal(f(), alone);
  }
  set_threads(usual);
  return same;
}

}  // namespace tinymp::test
