#pragma once

#include <kernels/formulas/row_chunks.h>
#include <tinymp/base/host_device.h>
#include <cstdint>
#include <limits>

/// The largest value and the sums of a row. A formula that needs several of them takes a class that walks along
/// the row, so that CPU and GPU share its text: ByOne here, BySixteen in cuda/rows.h.
namespace tinymp::kernels {

/// The largest of n values x[i], or NaN if one of them is NaN. (Neither of the two comparisons needs a branch.)
template <class C, class Row>
TINYMP_HD C largest(const Row& x, std::int64_t n) {
  C top = x[0];
  bool any_nan = false;
  for (std::int64_t i = 0; i < n; ++i) {
    const C v = x[i];
    any_nan |= v != v;
    top = v > top ? v : top;
  }
  return any_nan ? std::numeric_limits<C>::quiet_NaN() : top;
}

/// One thread goes along the whole row.
struct ByOne {
  template <class C, class Row>
  static TINYMP_HD C largest(const Row& x, std::int64_t n) {
    return kernels::largest<C>(x, n);
  }
  template <class C, class Term>
  static TINYMP_HD C sum(std::int64_t n, const Accumulation& how, const Term& term) {
    return sum_of_row<C>(n, how, term);
  }
  template <class Work>
  static TINYMP_HD void each(std::int64_t n, const Work& work) {
    for (std::int64_t i = 0; i < n; ++i) work(i);
  }
};

}  // namespace tinymp::kernels
