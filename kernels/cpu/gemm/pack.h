#pragma once

#include <kernels/cpu/gemm/tile.h>
#include <kernels/cpu/scratch.h>
#include <tinymp/numeric/half.h>
#include <tinymp/tensor/view.h>

/// Operands in the form that the tiles read: in FP32, and contiguous in memory.
namespace tinymp::kernels::cpu {

/// Whether a product is computed by the definition: for f64, and for sums in half when the codec rounds
/// differently from the processor, which the tiles use.
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
