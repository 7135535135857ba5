#pragma once

#include <kernels/cpu/gemm/tile.h>
#include <kernels/cpu/scratch.h>
#include <tinymp/numeric/half.h>
#include <tinymp/tensor/view.h>

/// Operands as the tiles want them: in FP32, and side by side in memory.
namespace tinymp::kernels::cpu {

/// Whether a product goes the plain way, by the definition: f64, and sums in half where the codec rounds
/// otherwise than the processor, which the tiles ask.
inline bool by_definition(DType dtype, DType accumulate) {
  return dtype == DType::f64 || (accumulate == DType::f16 && !matches_f16c);
}

/// A matrix that is read block by block: element (i,j) is values[i * stride + j].
struct Matrix {
  const void* values;
  DType dtype;
  std::int64_t stride;
};

/// to[i * to_stride + j] = x(i + first_row, j + first_column), widened to FP32.
void copy_block(const Matrix& x, std::int64_t first_row, std::int64_t rows, std::int64_t first_column,
                std::int64_t columns, float* to, std::int64_t to_stride);

/// to[j * to_stride + i] = from[i * from_stride + j] for rows x columns values of `from`.
void transpose_block(const float* from, std::int64_t from_stride, std::int64_t rows, std::int64_t columns,
                     float* to, std::int64_t to_stride);

}  // namespace tinymp::kernels::cpu
