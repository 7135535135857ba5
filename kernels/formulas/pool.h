#pragma once

#include <kernels/formulas/window.h>

/// Pools, one value at a time. The GPU runs these functions. x and dy are callables, as in conv.h. A pool keeps
/// the channels (O = C), and its windows do not reach over the edges.
namespace tinymp::kernels {

/// True if `value` replaces the largest value so far. Among equal values, and among NaNs, the first one stays. A
/// NaN is above all numbers.
template <class C>
TINYMP_HD bool is_larger(C value, C largest) {
  return !(value <= largest) & (largest == largest);  // & and not &&: the processor would guess wrong
}

/// The place in x of the largest value of a window. is_larger() compares the values.
template <class C, class X>
TINYMP_HD std::int64_t place_of_maximum(const Slide& s, const X& x, std::int64_t image, std::int64_t oh,
                                        std::int64_t ow, std::int64_t c) {
  std::int64_t best = s.pixel(image, oh * s.window.stride, ow * s.window.stride) + c;
  for (std::int64_t kh = 0; kh < s.window.height; ++kh) {
    for (std::int64_t kw = 0; kw < s.window.width; ++kw) {
      const std::int64_t at = s.pixel(image, oh * s.window.stride + kh, ow * s.window.stride + kw) + c;
      if (is_larger<C>(x(at), x(best))) best = at;
    }
  }
  return best;
}

/// The mean of a window. Its values are added row by row, and the sum is divided once.
template <class C, class X>
TINYMP_HD C mean_of_window(const Slide& s, const X& x, std::int64_t image, std::int64_t oh, std::int64_t ow,
                           std::int64_t c) {
  C sum = 0;
  for (std::int64_t kh = 0; kh < s.window.height; ++kh) {
    for (std::int64_t kw = 0; kw < s.window.width; ++kw)
      sum += x(s.pixel(image, oh * s.window.stride + kh, ow * s.window.stride + kw) + c);
  }
  return sum / static_cast<C>(s.window.height * s.window.width);
}

/// The sum of term(oh, ow) over the windows that hold pixel (h,v), from the first to the last.
template <class C, class Term>
TINYMP_HD C sum_over_windows(const Slide& s, std::int64_t h, std::int64_t v, const Term& term) {
  const auto first_that_holds = [&](std::int64_t at, std::int64_t size) {
    return at < size ? 0 : (at - size) / s.window.stride + 1;
  };
  C sum = 0;
  for (std::int64_t oh = first_that_holds(h, s.window.height); oh < s.down && oh * s.window.stride <= h;
       ++oh) {
    for (std::int64_t ow = first_that_holds(v, s.window.width); ow < s.across && ow * s.window.stride <= v;
         ++ow)
      sum += term(oh, ow);
  }
  return sum;
}

}  // namespace tinymp::kernels
