#pragma once

#include <cstdint>

/// The arithmetic of a tensor core, without the layout of elements over lanes. Only this file knows how the
/// products of an mma are added up.
namespace tinymp::kernels::emu::machine {

enum class Operands : std::uint8_t { f16, bf16, e4m3, e5m2 };
enum class Sums : std::uint8_t { f32, f16 };

/// d = d + a . b. All values are floats, which represent every operand format exactly.
struct TileProduct {
  int M, N, K;     ///< 16 at most; of FP8 K is 32
  const float* a;  ///< (M,K), row by row
  const float* b;  ///< (K,N), row by row
  float* d;        ///< (M,N), row by row: holds the accumulator, then the result
  Operands operands;
  Sums sums;               ///< f16: the result is rounded to half
  Operands operands_of_b;  ///< FP8: those of b, of either format; else as `operands`
};

/// Does the work of mma_sync() and mma_m16n8k16(), with the bits of chip() (chip.h;
/// kernels/numerics/tensor_core.h explains them). Throws UsageError when the chip does not take these
/// operands.
///
/// Without a chip: exact products, added to the accumulator in FP32 in the order k = 0, 1, ..., K-1: the
/// chain of kernels.h. No GPU does exactly this, but it has the bits of the CPU's gemm. FP16 sums are rounded
/// once for each tile.
void multiply(const TileProduct& tile);

}  // namespace tinymp::kernels::emu::machine
