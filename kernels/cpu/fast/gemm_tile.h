#pragma once

#include <cstdint>

/// What the three micro-kernels (plain C++, AVX2, AVX-512) offer to gemm.cpp. They are one text,
/// gemm_micro.inc, compiled once for each instruction set; each object has internal linkage but for its entry
/// point, so that no code meant for AVX-512 can end up in a function that every machine runs.
namespace tinymp::kernels::cpu {

/// Operands are packed so that a micro-kernel reads both front to back: A in panels of `rows` rows, B in
/// panels of `columns` columns, each panel ordered by k.
struct GemmTile {
  int rows, columns;
  /// c:(rows,columns) with `stride`, c = a . b added to it term by term, k = 0 .. K-1. `half_sums` rounds
  /// every sum to binary16 on the way.
  void (*multiply)(std::int64_t K, const float* a, const float* b, float* c, std::int64_t stride,
                   bool half_sums);
};

GemmTile gemm_tile_portable();
GemmTile gemm_tile_avx2();
GemmTile gemm_tile_avx512();

/// The widest tile this processor can run; TINYMP_ISA=portable|avx2|avx512 asks for a narrower one. Throws
/// UsageError for another name, MissingError when the processor cannot run the one that was asked for.
const GemmTile& gemm_tile();

}  // namespace tinymp::kernels::cpu
