#include <kernels/cpu/gemm/pack.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>

namespace tinymp::kernels::cpu {
namespace {

#if defined(__clang__) || __GNUC__ >= 12
using Four = float __attribute__((vector_size(16)));

Four load_four(const float* p) {
  Four v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
void store_four(float* p, Four v) { __builtin_memcpy(p, &v, sizeof v); }

/// Two rounds that each interleave rows 0 and 2, and rows 1 and 3.
void transpose_four(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  const Four a = load_four(from), b = load_four(from + from_stride), c = load_four(from + 2 * from_stride),
             d = load_four(from + 3 * from_stride);
  const Four ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), bd = __builtin_shufflevector(b, d, 0, 4, 1, 5);
  const Four ca = __builtin_shufflevector(a, c, 2, 6, 3, 7), db = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  store_four(to, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
  store_four(to + to_stride, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
  store_four(to + 2 * to_stride, __builtin_shufflevector(ca, db, 0, 4, 1, 5));
  store_four(to + 3 * to_stride, __builtin_shufflevector(ca, db, 2, 6, 3, 7));
}
#else
void transpose_four(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) to[j * to_stride + i] = from[i * from_stride + j];
  }
}
#endif

}  // namespace

void copy_block(const Matrix& x, std::int64_t first_row, std::int64_t rows, std::int64_t first_column,
                std::int64_t columns, float* to, std::int64_t to_stride) {
  visit_any_dtype(x.dtype, [&]<class T> {
    const T* from = static_cast<const T*>(x.values) + first_row * x.stride + first_column;
    if (x.stride == columns && to_stride == columns) columns *= rows, rows = 1;  // contiguous rows become one
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto n = static_cast<std::size_t>(columns);
      convert(std::span<const T>(from + i * x.stride, n), std::span<float>(to + i * to_stride, n));
    }
  });
}

void transpose_block(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
                     float* to, std::int64_t to_stride) {
  if (rows < 4 || columns < 4) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) to[j * to_stride + i] = from[i * from_stride + j];
    }
    return;
  }
  // The last squares overlap with the ones before when they would not be full.
  for (std::int64_t left = 0; left < columns; left += 4) {
    for (std::int64_t top = 0; top < rows; top += 4) {
      const std::int64_t i = std::min(top, rows - 4), j = std::min(left, columns - 4);
      transpose_four(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
    }
  }
}

}  // namespace tinymp::kernels::cpu
