#pragma once

#include <kernels/cuda/gemm/types.h>
#include <kernels/cuda/ptx.h>

/// Tiles in shared memory, for the rungs that have many warps in a block.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// A block of 8 warps computes 128x128 of c and goes along k in steps of 32. Warps lie 2 by 4: 64x32 each.
struct BlockShape {
  static constexpr int m = 128, n = 128, k = 32, threads = 256;
  static constexpr int warp_m = 64, warp_n = 32, warps_along_n = n / warp_n;
};

/// Part of a matrix, kept in the order in which the matrix lies in memory: `lines` rows (columns, when it is
/// transposed) of `length` elements. 8 elements more in each line, 16 bytes, and the same element of
/// neighbouring lines lies in other banks.
template <class T, class Layout, int rows, int cols>
struct PaddedTile {
  static constexpr bool by_rows = std::is_same_v<Layout, nvcuda::wmma::row_major>;
  static constexpr int lines = by_rows ? rows : cols;
  static constexpr int length = by_rows ? cols : rows;
  static constexpr int stride = length + 8;
  static constexpr int size = lines * stride;

  T* data;
  __device__ T* line(int number, int element) const { return data + number * stride + element; }
  __device__ T* at(int row, int col) const { return by_rows ? line(row, col) : line(col, row); }
};

/// What a tile is copied from: `rows` x `cols` as the kernel sees it, lines `ld` apart.
template <class T>
struct Source {
  const T* data;
  int ld, rows, cols;
};

/// All threads of the block go over a tile whose first element is (row, col) of x, 8 elements at a time:
/// piece(line, element, from, inside), where `inside` of the 8 lie in the matrix, 0 to 8, the first at
/// `from`.
template <class Tile, class T, class Piece>
__device__ void for_each_piece(const Source<T>& x, int row, int col, Piece piece) {
  const int first_line = Tile::by_rows ? row : col, first_element = Tile::by_rows ? col : row;
  const int lines = Tile::by_rows ? x.rows : x.cols, length = Tile::by_rows ? x.cols : x.rows;
  // A number of turns that is known, and unsigned division by powers of two: else each copy takes 30 instructions.
  constexpr unsigned pieces = Tile::length / 8, turns = Tile::lines * pieces / BlockShape::threads;
  static_assert(turns * BlockShape::threads == Tile::lines * pieces, "each turn gives every thread a piece");
  TINYMP_UNROLL
  for (unsigned turn = 0; turn < turns; ++turn) {
    const unsigned i = turn * BlockShape::threads + threadIdx.x;
    const int line = static_cast<int>(i / pieces), element = static_cast<int>(i % pieces * 8);
    const int left = first_line + line < lines ? length - first_element - element : 0;
    const int inside = left < 0 ? 0 : left > 8 ? 8 : left;
    const T* const from =
        x.data + (inside > 0 ? std::int64_t{first_line + line} * x.ld + first_element + element : 0);
    piece(line, element, from, inside);
  }
}

/// The warp of this thread, and where its part of the block's tile begins.
struct WarpPlace {
  int m, n;
};
__device__ inline WarpPlace warp_place() {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  return {warp / BlockShape::warps_along_n * BlockShape::warp_m,
          warp % BlockShape::warps_along_n * BlockShape::warp_n};
}

/// The sums of a warp: 4 x 2 tiles of 16x16.
template <class Sum>
struct WarpSums {
  static constexpr int along_m = BlockShape::warp_m / 16, along_n = BlockShape::warp_n / 16;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, Sum> tiles[along_m][along_n];

  // Unrolled, so that each tile has registers: a loop that indexes them puts them into memory.
  __device__ void clear() {
    TINYMP_UNROLL
    for (int i = 0; i < along_m; ++i) {
      TINYMP_UNROLL
      for (int j = 0; j < along_n; ++j) nvcuda::wmma::fill_fragment(tiles[i][j], narrow<Sum>(0.0f));
    }
  }

  /// += a . b over the k of the two tiles.
  template <class T, class TileA, class TileB, class LayoutA, class LayoutB>
  __device__ void add(const TileA& a, const TileB& b) {
    using namespace nvcuda;
    const WarpPlace place = warp_place();
    for (int k = 0; k < BlockShape::k; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> left[along_m];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> right[along_n];
      for (int i = 0; i < along_m; ++i)
        wmma::load_matrix_sync(left[i], a.at(place.m + 16 * i, k), TileA::stride);
      for (int j = 0; j < along_n; ++j)
        wmma::load_matrix_sync(right[j], b.at(k, place.n + 16 * j), TileB::stride);
      for (int i = 0; i < along_m; ++i) {
        for (int j = 0; j < along_n; ++j) wmma::mma_sync(tiles[i][j], left[i], right[j], tiles[i][j]);
      }
    }
  }

  /// Through `stage`, 256 sums of shared memory for this warp alone, into the part of c that begins at (m,
  /// n).
  template <class T>
  __device__ void store(Sum* stage, T* c, int ldc, int m, int n, int M, int N) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    TINYMP_UNROLL
    for (int i = 0; i < along_m; ++i) {
      TINYMP_UNROLL
      for (int j = 0; j < along_n; ++j) {
        nvcuda::wmma::store_matrix_sync(stage, tiles[i][j], 16, nvcuda::wmma::mem_row_major);
        __syncwarp();
        for (int e = lane; e < 256; e += 32) {
          const int row = m + 16 * i + e / 16, col = n + 16 * j + e % 16;
          if (row < M && col < N) c[std::int64_t{row} * ldc + col] = narrow<T>(static_cast<float>(stage[e]));
        }
        __syncwarp();
      }
    }
  }
};

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
