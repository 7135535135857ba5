#pragma once

#include <kernels/cuda/values.h>
#include <kernels/formulas/window.h>

/// What conv.cuh and pool.cuh share: a thread works on one value of an image at a time.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// A tensor as formulas/conv.h and formulas/pool.h see it.
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

}  // namespace

/// kernel<C>(slide, arguments..., n) over the n values of `written`.
#define TINYMP_OVER(written, kernel, ...)                                                     \
  if ((written).size() == 0) return;                                                          \
  with_compute_type((written).dtype, [&]<class C> {                                           \
    launch<kernel<C>>(blocks_for((written).size()), block_threads, 0, stream(), __VA_ARGS__); \
  })

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
