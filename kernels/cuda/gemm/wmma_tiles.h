#pragma once

#include <kernels/cuda/gemm/ladder.h>

namespace tinymp::kernels {

/// count products of 16x16x16, each apart: d = a . b + c, all row by row, one tile behind the other.
struct TileBatch {
  Format format = Format::f16;  ///< of a and b: f16, or bf16 from sm_80 on
  int count = 0;                ///< above 0
  const void* a = nullptr;      ///< in GPU memory, as b, c and d; aligned to 32 bytes
  const void* b = nullptr;
  const float* c = nullptr;
  float* d = nullptr;
};

namespace emu {
void wmma_tiles(const TileBatch& tiles, Stream stream);
}
namespace cuda {
void wmma_tiles(const TileBatch& tiles, Stream stream);
}

}  // namespace tinymp::kernels
