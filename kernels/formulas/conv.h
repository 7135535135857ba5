#pragma once

#include <kernels/formulas/window.h>
#include <tinymp/numeric/half.h>
#include <cmath>
#include <type_traits>

/// Convolution by its definition, one value at a time. The GPU runs it, and it is the oracle of
/// cpu/conv.cpp. x, w and dy are callables: x(i) is value i as a C, float or double.
namespace tinymp::kernels {

/// The number of images in one chain of a weight gradient. The chains are added in order.
inline constexpr std::int64_t images_of_a_group = 8;

inline std::int64_t groups_of(std::int64_t images) {
  return (images + images_of_a_group - 1) / images_of_a_group;
}

/// A running sum of products, which starts at +0. The product is exact inside the fma. The sum is rounded
/// once, and if `in_half` is set once more, to half.
template <class C>
struct Chain {
  bool in_half;
  C sum = 0;

  TINYMP_HD void add_product(C a, C b) { sum = rounded(std::fma(a, b, sum)); }
  TINYMP_HD void add(C value) { sum = rounded(sum + value); }
  TINYMP_HD C rounded(C value) const {
    if constexpr (std::is_same_v<C, float>) return in_half ? static_cast<float>(half(value)) : value;
    return value;
  }
};

/// y[b, oh, ow, o] = sum over kh, kw, c of  x[b, oh stride + kh - padding, ow stride + kw - padding, c]
///                                          w[kh, kw, c, o]
/// Rows of the window above and below the image are left out. To the left and right of the image the window
/// reads zeros, and their products are added. So a row of the window is always one walk over values that lie
/// side by side.
template <class C, class X, class W>
TINYMP_HD C conv2d_value(const Slide& s, const X& x, const W& w, bool half_sums, std::int64_t image,
                         std::int64_t oh, std::int64_t ow, std::int64_t o) {
  Chain<C> chain{half_sums};
  for (std::int64_t kh = 0; kh < s.window.height; ++kh) {
    const std::int64_t h = oh * s.window.stride + kh - s.window.padding;
    if (h < 0 || h >= s.height) continue;
    for (std::int64_t kw = 0; kw < s.window.width; ++kw) {
      const std::int64_t v = ow * s.window.stride + kw - s.window.padding;
      const bool inside = v >= 0 && v < s.width;
      const std::int64_t from = inside ? s.pixel(image, h, v) : 0;
      const std::int64_t tap = (kh * s.window.width + kw) * s.channels;
      for (std::int64_t c = 0; c < s.channels; ++c)
        chain.add_product(inside ? x(from + c) : C(0), w((tap + c) * s.outputs + o));
    }
  }
  return chain.sum;
}

/// dx[b, h, v, c] = sum over kh, kw (from the last to the first) and o of  dy[b, oh, ow, o] w[kh, kw, c, o]
/// wherever  oh stride + kh - padding = h  and  ow stride + kw - padding = v  have a solution. Rows above
/// and below dy are left out. To its left and right are zeros, and their products are added.
template <class C, class DY, class W>
TINYMP_HD C conv2d_dx_value(const Slide& s, const DY& dy, const W& w, bool half_sums, std::int64_t image,
                            std::int64_t h, std::int64_t v, std::int64_t c) {
  Chain<C> chain{half_sums};
  for (std::int64_t kh = s.window.height - 1; kh >= 0; --kh) {
    const std::int64_t below = h + s.window.padding - kh, oh = below / s.window.stride;
    if (below < 0 || below % s.window.stride != 0 || oh >= s.down) continue;
    for (std::int64_t kw = s.window.width - 1; kw >= 0; --kw) {
      const std::int64_t beside = v + s.window.padding - kw, ow = beside / s.window.stride;
      if (beside % s.window.stride != 0) continue;
      const bool inside = beside >= 0 && ow < s.across;
      const std::int64_t from = inside ? s.place(image, oh, ow) : 0;
      const std::int64_t tap = ((kh * s.window.width + kw) * s.channels + c) * s.outputs;
      for (std::int64_t o = 0; o < s.outputs; ++o)
        chain.add_product(inside ? dy(from + o) : C(0), w(tap + o));
    }
  }
  return chain.sum;
}

/// dw[kh, kw, c, o] of one group of images: the sum over its images, oh and ow of
/// x[b, oh stride + kh - padding, ow stride + kw - padding, c]  dy[b, oh, ow, o],  with rows and zeros as in
/// conv2d_value. A Chain adds the groups in order; its sum is dw.
template <class C, class X, class DY>
TINYMP_HD C conv2d_dw_value(const Slide& s, const X& x, const DY& dy, bool half_sums, std::int64_t group,
                            std::int64_t kh, std::int64_t kw, std::int64_t c, std::int64_t o) {
  Chain<C> chain{half_sums};
  const std::int64_t first = group * images_of_a_group;
  for (std::int64_t image = first; image < first + images_of_a_group && image < s.images; ++image) {
    for (std::int64_t oh = 0; oh < s.down; ++oh) {
      const std::int64_t h = oh * s.window.stride + kh - s.window.padding;
      if (h < 0 || h >= s.height) continue;
      for (std::int64_t ow = 0; ow < s.across; ++ow) {
        const std::int64_t v = ow * s.window.stride + kw - s.window.padding;
        const C value = v >= 0 && v < s.width ? x(s.pixel(image, h, v) + c) : C(0);
        chain.add_product(value, dy(s.place(image, oh, ow) + o));
      }
    }
  }
  return chain.sum;
}

}  // namespace tinymp::kernels
