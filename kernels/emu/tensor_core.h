#pragma once

#include <cstdint>

/// The arithmetic of a tensor core, apart from who holds which element: the one place that knows how the
/// products of an mma are added up.
namespace tinymp::kernels::emu::machine {

enum class Operands : std::uint8_t { f16, bf16 };
enum class Sums : std::uint8_t { f32, f16 };

/// d = d + a . b.  All values are given as floats, which every operand format fits exactly.
struct TileProduct {
  int M, N, K;     ///< 16 at most
  const float* a;  ///< (M,K), row by row
  const float* b;  ///< (K,N), row by row
  float* d;        ///< (M,N), row by row: the accumulator comes in, the result goes out
  Operands operands;
  Sums sums;  ///< f16: what goes out is rounded to half
};

/// What mma_sync() and mma_m16n8k16() do: the bits of chip() (chip.h; kernels/numerics/tensor_core.h tells
/// how they come about). Throws UsageError when it does not take these operands.
///
/// Without a chip: exact products, added to the accumulator one after the other over k = 0, 1, ..., K-1 in
/// FP32: the chain of kernels.h. No GPU does exactly this, but it has the bits of the CPU's gemm. FP16 sums
/// are rounded once for each tile.
void multiply(const TileProduct& tile);

}  // namespace tinymp::kernels::emu::machine
