#pragma once

#include <kernels/formulas/along_row.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>
#include <cstdint>
#include <limits>

/// The largest value of a row and log sum exp, one text for CPU and GPU. Softmax and losses are computed from
/// them.
namespace tinymp::kernels {

/// The place of the largest of n > 0 values x[i]; of equal ones, the first. NaN is above all numbers; the first NaN
/// counts.
template <class C, class Row>
TINYMP_HD std::int64_t place_of_largest(const Row& x, std::int64_t n) {
  std::int64_t place = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const C v = x[i], top = x[place];
    if (v > top || (v != v && top == top)) place = i;
  }
  return place;
}

/// log sum exp(x) = top + rest. `top` is the largest of n values x[i]; without it exp would overflow. `rest` is
/// log sum exp(x - top). They stay two numbers: if `top` is large, the rounded sum would lose `rest`.
template <class C>
struct LogSumExp {
  C top, rest;
  /// log sum exp(x) - v
  TINYMP_HD C minus(C v) const { return (top - v) + rest; }
  /// The share of v in the sum: exp(v) / sum exp(x).
  TINYMP_HD C share_of(C v) const { return exp((v - top) - rest); }
};
template <class C, class Along = ByOne, class Row>
TINYMP_HD LogSumExp<C> log_sum_exp(const Row& x, std::int64_t n) {
  const C top = Along::template largest<C>(x, n);
  return {top, log(Along::template sum<C>(n, {}, [&](std::int64_t i) { return exp(x[i] - top); }))};
}

/// factor dloss / n, in double: 2 dloss may exceed the largest float even if dloss does not.
template <class C>
TINYMP_HD C share_of(C dloss, double factor, std::int64_t n) {
  return static_cast<C>(factor * static_cast<double>(dloss) / static_cast<double>(n));
}

}  // namespace tinymp::kernels
