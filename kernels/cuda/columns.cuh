#pragma once

#include <kernels/cuda/packs.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// `columns` neighbouring ones of a matrix of rows of `width` values, which begin at `memory`.
template <class T>
struct Part {
  T* memory;
  std::int64_t width;
};

template <class T>
struct CopyPart {
  Part<const T> x;
  Part<T> y;
  std::int64_t columns;

  template <int count>
  __device__ void at(std::int64_t p) const {
    const std::int64_t packs = columns / count, row = p / packs, of_row = p - row * packs;
    store_pack(y.memory + row * y.width, of_row, load_pack<count>(x.memory + row * x.width, of_row));
  }
};

}  // namespace

void copy_columns(const View& x, std::int64_t from, const View& y, std::int64_t to, std::int64_t count) {
  const std::int64_t n = x.rows() * count;
  if (n == 0) return;
  visit_dtype(x.dtype, [&]<class T> {
    const CopyPart<T> copy{{x.data<T>() + from, x.cols()}, {y.data<T>() + to, y.cols()}, count};
    const bool whole = x.cols() % pack_values == 0 && y.cols() % pack_values == 0;
    launch_packs(copy, packs_in_rows(n, whole ? count : 1, {copy.x.memory, copy.y.memory}));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
