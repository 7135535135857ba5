#pragma once

#include <kernels/cuda/values.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// Columns of a matrix: `width` of them, of which `from` is the first that takes part.
struct Part {
  Values values;
  std::int64_t width, from;
  __device__ std::int64_t place(std::int64_t b, std::int64_t c) const { return b * width + from + c; }
};

template <class C>
__global__ void copy_part(Part x, Part y, std::int64_t n, std::int64_t count) {
  for (std::int64_t i = first(); i < n; i += stride())
    y.values.set(y.place(i / count, i % count), x.values.get<C>(x.place(i / count, i % count)));
}

}  // namespace

void copy_columns(const View& x, std::int64_t from, const View& y, std::int64_t to, std::int64_t count) {
  const std::int64_t n = x.rows() * count;
  if (n == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<copy_part<C>>(blocks_for(n), block_threads, 0, stream(), Part{values(x), x.cols(), from},
                         Part{values(y), y.cols(), to}, n, count);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
