#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/exp_log.h>

namespace tinymp {
namespace detail {

/// sin t for |t| <= pi/4. The error of the series is below 2^-58 of the result.
TINYMP_HD constexpr double sin_series(double t) {
  const double z = t * t;
  double p = 1.0 / 355687428096000;  // 1/17!
  p = p * z - 1.0 / 1307674368000;
  p = p * z + 1.0 / 6227020800;
  p = p * z - 1.0 / 39916800;
  p = p * z + 1.0 / 362880;
  p = p * z - 1.0 / 5040;
  p = p * z + 1.0 / 120;
  p = p * z - 1.0 / 6;
  return t + t * z * p;
}

/// cos t for |t| <= pi/4. The error of the series is below 2^-57.
TINYMP_HD constexpr double cos_series(double t) {
  const double z = t * t;
  double p = 1.0 / 20922789888000;  // 1/16!
  p = p * z - 1.0 / 87178291200;
  p = p * z + 1.0 / 479001600;
  p = p * z - 1.0 / 3628800;
  p = p * z + 1.0 / 40320;
  p = p * z - 1.0 / 720;
  p = p * z + 1.0 / 24;
  p = p * z - 0.5;
  return 1 + z * p;
}

}  // namespace detail

/// cos(pi x), so x = 1 is half a turn. It uses + - * alone and gives the same bits everywhere, like
/// exp_log.h. The largest error is 1.78 units in the last place (tests/numeric/cos_pi_test.cpp, millions of
/// samples). The results 1, 0 and -1 at whole and half x are exact. Infinity and NaN give NaN.
TINYMP_HD constexpr double cos_pi(double x) {
  constexpr double pi = 0x1.921fb54442d18p+1;
  if (!(x - x == 0)) return detail::kNaN;
  x = x < 0 ? -x : x;
  if (x >= 0x1p53) return 1;                                                    // every such x is even
  double turn = x - 2 * ((x * 0.5 + detail::kToInteger) - detail::kToInteger);  // exact: -1 .. 1
  turn = turn < 0 ? -turn : turn;
  const double y = turn > 0.5 ? 1 - turn : turn;  // exact: 0 .. 1/2
  const double c = y > 0.25 ? detail::sin_series(pi * (0.5 - y)) : detail::cos_series(pi * y);
  return turn > 0.5 ? -c : c;
}

}  // namespace tinymp
