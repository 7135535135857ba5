#pragma once

#include <kernels/cuda/images.h>
#include <kernels/formulas/pool.h>

/// Pools: a thread works on one value at a time, as formulas/pool.h defines it.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void take_maxima(Slide s, Values x, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_y(s, i);
    y.set(i, x.get<C>(place_of_maximum<C>(s, Reader<C>{x}, at.image, at.h, at.w, at.c)));
  }
}

template <class C>
__global__ void hand_to_maxima(Slide s, Values x, Values dy, Values dx, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_x(s, i);
    const auto share = [&](std::int64_t oh, std::int64_t ow) {
      const bool here = place_of_maximum<C>(s, Reader<C>{x}, at.image, oh, ow, at.c) == i;
      return here ? dy.get<C>(s.place(at.image, oh, ow) + at.c) : C(0);
    };
    dx.set(i, sum_over_windows<C>(s, at.h, at.w, share));
  }
}

template <class C>
__global__ void take_means(Slide s, Values x, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_y(s, i);
    y.set(i, mean_of_window<C>(s, Reader<C>{x}, at.image, at.h, at.w, at.c));
  }
}

template <class C>
__global__ void hand_to_all(Slide s, Values dy, Values dx, std::int64_t n) {
  const C pixels = static_cast<C>(s.window.height * s.window.width);
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_x(s, i);
    const auto share = [&](std::int64_t oh, std::int64_t ow) {
      return dy.get<C>(s.place(at.image, oh, ow) + at.c) / pixels;
    };
    dx.set(i, sum_over_windows<C>(s, at.h, at.w, share));
  }
}

template <class C>
__global__ void take_every(Slide s, Values x, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_y(s, i);
    const std::int64_t from = s.pixel(at.image, at.h * s.window.stride, at.w * s.window.stride);
    y.set(i, at.c < s.channels ? x.get<C>(from + at.c) : C(0));
  }
}

template <class C>
__global__ void hand_to_every(Slide s, Values dy, Values dx, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const Place at = place_in_x(s, i);
    const bool taken = at.h % s.window.stride == 0 && at.w % s.window.stride == 0;
    const std::int64_t from = s.place(at.image, at.h / s.window.stride, at.w / s.window.stride);
    dx.set(i, taken ? dy.get<C>(from + at.c) : C(0));
  }
}

Slide every(const View& x, std::int64_t step, const View& y) { return {x.shape, {1, 1, step}, y.shape}; }

}  // namespace

void max_pool2d(const View& x, const Window& window, const View& y) {
  TINYMP_OVER(y, take_maxima, Slide(x.shape, window, y.shape), values(x), values(y), y.size());
}
void max_pool2d_backward(const View& x, const View& dy, const Window& window, const View& dx) {
  TINYMP_OVER(dx, hand_to_maxima, Slide(x.shape, window, dy.shape), values(x), values(dy), values(dx),
              dx.size());
}
void avg_pool2d(const View& x, const Window& window, const View& y) {
  TINYMP_OVER(y, take_means, Slide(x.shape, window, y.shape), values(x), values(y), y.size());
}
void avg_pool2d_backward(const View& dy, const Window& window, const View& dx) {
  TINYMP_OVER(dx, hand_to_all, Slide(dx.shape, window, dy.shape), values(dy), values(dx), dx.size());
}
void subsample(const View& x, std::int64_t step, const View& y) {
  TINYMP_OVER(y, take_every, every(x, step, y), values(x), values(y), y.size());
}
void subsample_backward(const View& dy, std::int64_t step, const View& dx) {
  TINYMP_OVER(dx, hand_to_every, every(dx, step, dy), values(dy), values(dx), dx.size());
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
