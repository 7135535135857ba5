#pragma once

#include <cstdint>

/// The inner loop of every matrix product and convolution: a tile of C that stays in registers while k runs.
/// One source, tile.inc, is compiled once for each instruction set (plain C++, AVX2, AVX-512). Only the entry
/// point of each object has external linkage, so that no code for AVX-512 can end up in a function that every
/// machine runs.
namespace tinymp::kernels::cpu {

/// The places of the values of A for k = 0, 1, ...: `outer` times `inner` values with a step between them. A
/// matrix needs the inner steps alone; the window of a convolution has rows.
struct Walk {
  std::int64_t outer = 1, outer_step = 0;
  std::int64_t inner = 0, inner_step = 1;
};

/// c(r,n) = c(r,n) + sum over k of a[r a_row + k's place] b[k b_row + n], term by term in the order of k.
/// After each `inner` values b moves by b_skip more. Each sum is the chain of fused multiply-adds of
/// gemm_reference.cpp.
struct TileWork {
  const float* a = nullptr;
  std::int64_t a_row = 0;
  Walk k;
  const float* b = nullptr;
  std::int64_t b_row = 0, b_skip = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  int rows = 0, columns = 0;
  bool from_zero = true;   ///< start at +0 instead of the value in c
  bool half_sums = false;  ///< round every sum to binary16 on the way
};

struct Tile {
  int rows = 0, columns = 0;  ///< the largest tile
  int narrow_rows = 0;        ///< rows of the largest tile of at most `width` columns
  int width = 0;              ///< columns of one register
  void (*multiply)(const TileWork& work) = nullptr;

  int rows_for(std::int64_t n) const { return n <= width ? narrow_rows : rows; }
};

/// A thread does so many multiplications before another thread is awake.
inline constexpr std::int64_t alone = 1 << 18;

Tile tile_portable();
Tile tile_avx2();
Tile tile_avx512();

/// The widest tile that this processor can run. TINYMP_ISA=portable|avx2|avx512 asks for a narrower one.
/// Throws UsageError for another name, MissingError when the processor cannot run the requested one.
const Tile& best_tile();

}  // namespace tinymp::kernels::cpu
