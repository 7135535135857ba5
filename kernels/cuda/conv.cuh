#pragma once

#include <kernels/convolution.h>
#include <kernels/cuda/values.h>
#include <kernels/pooling.h>

/// Convolutions, pools and what else is done to images: a thread works on one value at a time, as
/// convolution.h and pooling.h define it.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// A tensor as those headers see it.
template <class C>
struct Reader {
  Values x;
  __device__ C operator()(std::int64_t i) const { return x.get<C>(i); }
};

/// Which value of (.,.,.,channels) number i is.
struct Place {
  std::int64_t image, h, w, c;
};
__device__ inline Place place_of(std::int64_t i, std::int64_t height, std::int64_t width,
                                 std::int64_t channels) {
  const std::int64_t pixel = i / channels;
  return {pixel / width / height, pixel / width % height, pixel % width, i % channels};
}
__device__ inline Place place_in_x(const Slide& s, std::int64_t i) {
  return place_of(i, s.height, s.width, s.channels);
}
__device__ inline Place place_in_y(const Slide& s, std::int64_t i) {
  return place_of(i, s.down, s.across, s.outputs);
}

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

/// kernel<C>(slide, arguments..., n) over the n values of `written`.
#define TINYMP_OVER(written, kernel, ...)                                                     \
  if ((written).size() == 0) return;                                                          \
  with_compute_type((written).dtype, [&]<class C> {                                           \
    launch<kernel<C>>(blocks_for((written).size()), block_threads, 0, stream(), __VA_ARGS__); \
  })

Slide every(const View& x, std::int64_t step, const View& y) { return {x.shape, {1, 1, step}, y.shape}; }

}  // namespace

void conv2d(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
            const Epilogue& after) {
  TINYMP_OVER(y, convolve, Slide(x.shape, window, y.shape), values(x), values(w), values(y), y.size(),
              accumulate == DType::f16);
  if (after.bias.memory != nullptr) TINYMP_EXECUTOR::add_bias(y, after.bias, y);
  if (after.activation) TINYMP_EXECUTOR::unary(*after.activation, y, y);
}

void conv2d_dx(const View& dy, const View& w, const Window& window, const View& dx, DType accumulate) {
  TINYMP_OVER(dx, convolve_back, Slide(dx.shape, window, dy.shape), values(dy), values(w), values(dx),
              dx.size(), accumulate == DType::f16);
}

void conv2d_dw(const View& x, const View& dy, const Window& window, const View& dw, DType accumulate) {
  if (dw.size() == 0) return;
  const Slide slide(x.shape, window, dy.shape);
  const std::int64_t groups = groups_of(slide.images), n = dw.size();
  with_compute_type(dw.dtype, [&]<class C> {
    const Scratch<C> sums(groups * n);
    if (groups > 0) {
      launch<weigh_groups<C>>(blocks_for(groups * n), block_threads, 0, stream(), slide, values(x),
                              values(dy), sums.data(), groups, n, accumulate == DType::f16);
    }
    launch<add_groups<C>>(blocks_for(n), block_threads, 0, stream(), sums.data(), groups, values(dw), n,
                          accumulate == DType::f16);
  });
}

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
#undef TINYMP_OVER

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
