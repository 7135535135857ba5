#pragma once

#include <kernels/cuda/conv_mma.h>
#include <kernels/cuda/finish.h>
#include <kernels/cuda/float8.h>
#include <kernels/cuda/float8_mma.h>
#include <kernels/cuda/images.h>
#include <kernels/formulas/conv.h>
#include <kernels/profile.h>

/// Convolutions: on tensor cores where these take them; else a thread works on one value at a time, as
/// formulas/conv.h defines it.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void convolve(Slide s, Values x, Values w, Values y, std::int64_t n, bool half_sums) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_y(s, i);
    y.set(i, conv2d_value<C>(s, Reader<C>{x}, Reader<C>{w}, half_sums, at.image, at.h, at.w, at.c));
  }
}

template <class C>
__global__ void convolve_back(Slide s, Values dy, Values w, Values dx, std::int64_t n, bool half_sums) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_x(s, i);
    dx.set(i, conv2d_dx_value<C>(s, Reader<C>{dy}, Reader<C>{w}, half_sums, at.image, at.h, at.w, at.c));
  }
}

/// sums:(groups, n), n values of dw for each group of images.
template <class C>
__global__ void weigh_groups(Slide s, Values x, Values dy, C* sums, std::int64_t groups, std::int64_t n,
                             bool half_sums) {
  for (std::int64_t i = first(); i < groups * n; i += stride()) {
    const Place tap = place_of(i % n, s.window.height, s.window.width, s.channels * s.outputs);
    sums[i] = conv2d_dw_value<C>(s, Reader<C>{x}, Reader<C>{dy}, half_sums, i / n, tap.h, tap.w,
                                 tap.c / s.outputs, tap.c % s.outputs);
  }
}

template <class C>
__global__ void add_groups(const C* sums, std::int64_t groups, Values dw, std::int64_t n, bool half_sums) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    Chain<C> total{half_sums};
    for (std::int64_t group = 0; group < groups; ++group) total.add(sums[group * n + i]);
    dw.set(i, total.sum);
  }
}

}  // namespace

void conv2d(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
            const Epilogue& after) {
  if (y.size() == 0) return;
  if (!has_arithmetic(x.dtype)) {
    const Float8Sums sums(y);
    if (!conv2d_float8(x, w, window, sums.view, after.float8.promote_every)) {
      const Widened wide(x, w);
      TINYMP_EXECUTOR::conv2d(wide.a, wide.b, window, sums.view, DType::f32, {});
    }
    return finish_float8(sums.view, after, y);
  }
  Epilogue rest = after;
  if (!conv2d_on_tensor_cores(x, w, window, y, accumulate, rest)) {
    detail::tell_way("by definition");
    TINYMP_OVER(y, convolve, Slide(x.shape, window, y.shape), values(x), values(w), values(y), y.size(),
                accumulate == DType::f16);
  }
  finish(rest, y);
}

void conv2d_dx(const View& dy, const View& w, const Window& window, const View& dx, DType accumulate,
               const Float8Product& float8) {
  if (!has_arithmetic(dy.dtype)) {
    if (dx.size() == 0) return;
    const Float8Sums sums(dx);
    if (!conv2d_dx_float8(dy, w, window, sums.view, float8.promote_every)) {
      const Widened wide(dy, w);
      TINYMP_EXECUTOR::conv2d_dx(wide.a, wide.b, window, sums.view, DType::f32, {});
    }
    return finish_float8(sums.view, {.float8 = float8}, dx);
  }
  if (dx.size() == 0 || conv2d_dx_on_tensor_cores(dy, w, window, dx, accumulate)) return;
  detail::tell_way("by definition");
  TINYMP_OVER(dx, convolve_back, Slide(dx.shape, window, dy.shape), values(dy), values(w), values(dx),
              dx.size(), accumulate == DType::f16);
}

void conv2d_dw(const View& x, const View& dy, const Window& window, const View& dw, DType accumulate,
               const Float8Product& float8) {
  if (dw.size() == 0) return;
  const Slide slide(x.shape, window, dy.shape);
  const std::int64_t groups = groups_of(slide.images), n = dw.size();
  if (!has_arithmetic(x.dtype)) {
    const Float8Sums sums(dw);
    const Scratch<float> of_groups(groups * n);
    if (conv2d_dw_float8(x, dy, window, dw.shape, of_groups.data(), float8.promote_every)) {
      launch<add_groups<float>>(blocks_for(n), block_threads, 0, stream(), of_groups.data(), groups,
                                values(sums.view), n, false);
    } else {
      const Widened wide(x, dy);
      TINYMP_EXECUTOR::conv2d_dw(wide.a, wide.b, window, sums.view, DType::f32, {});
    }
    return finish_float8(sums.view, {.float8 = float8}, dw);
  }
  with_compute_type(dw.dtype, [&]<class C> {
    const Scratch<C> sums(groups * n);
    bool added = groups == 0;
    if constexpr (std::is_same_v<C, float>)
      added = added || conv2d_dw_on_tensor_cores(x, dy, window, dw, sums.data(), accumulate);
    if (!added) {
      detail::tell_way("by definition");
      launch<weigh_groups<C>>(blocks_for(groups * n), block_threads, 0, stream(), slide, values(x),
                              values(dy), sums.data(), groups, n, accumulate == DType::f16);
    }
    launch<add_groups<C>>(blocks_for(n), block_threads, 0, stream(), sums.data(), groups, values(dw), n,
                          accumulate == DType::f16);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
