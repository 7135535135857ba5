#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <kernels/numerics/tensor_core.h>

/// The instructions of tensor cores, each alone: what a tensor core computes shows in its last bits.
namespace tinymp::kernels {

enum class TileInstruction : std::uint8_t {
  wmma,     ///< 16x16x16, of C++
  mma_k8,   ///< mma.sync m16n8k8: FP16, sm_75
  mma_k16,  ///< mma.sync m16n8k16: FP16 and BF16, sm_80
  mma_k32,  ///< mma.sync m16n8k32: FP8, sm_89
};
struct TileSize {
  int M, N, K;
};
constexpr TileSize size_of(TileInstruction instruction) {
  switch (instruction) {
    case TileInstruction::wmma:
      return {16, 16, 16};
    case TileInstruction::mma_k8:
      return {16, 8, 8};
    case TileInstruction::mma_k16:
      return {16, 8, 16};
    case TileInstruction::mma_k32:
      break;
  }
  return {16, 8, 32};
}

/// count products, each apart: d:(M,N) = a:(M,K) . b:(K,N) + c, all row by row, one tile behind the other.
struct TileBatch {
  TileInstruction instruction = TileInstruction::wmma;
  Operand a_format = Operand::fp16;  ///< of a and b; BF16 from sm_80 on. Of FP8 both may differ
  Operand b_format = Operand::fp16;
  Sums sums = Sums::f32;    ///< the format of c and d; f16 for FP16 alone
  int count = 0;            ///< above 0
  const void* a = nullptr;  ///< in GPU memory, as b, c and d; aligned to 32 bytes
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
};

/// The first architecture with such an instruction: 80 is sm_80. 0: there is none, or it is not launched here.
constexpr int first_architecture(const TileBatch& tiles) {
  const Operand a = tiles.a_format, b = tiles.b_format;
  const bool eight_bits = a == Operand::e4m3 || a == Operand::e5m2;
  if (tiles.instruction == TileInstruction::mma_k32)
    return eight_bits && (b == Operand::e4m3 || b == Operand::e5m2) && tiles.sums == Sums::f32 ? 89 : 0;
  if (eight_bits || a != b) return 0;
  if (a == Operand::bf16)
    return tiles.sums == Sums::f32 && tiles.instruction != TileInstruction::mma_k8 ? 80 : 0;
  return tiles.instruction == TileInstruction::wmma     ? 70
         : tiles.instruction == TileInstruction::mma_k8 ? 75
                                                        : 80;
}

/// Throws Error when no GPU has the instruction. The caller has compared first_architecture() with its GPU.
namespace emu {
void tensor_tiles(const TileBatch& tiles, Stream stream);
}
namespace cuda {
void tensor_tiles(const TileBatch& tiles, Stream stream);
}

}  // namespace tinymp::kernels
