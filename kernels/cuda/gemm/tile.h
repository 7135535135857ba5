#pragma once

#include <kernels/cuda/gemm/types.h>
#include <kernels/cuda/ptx.h>

/// Tiles in shared memory, for the rungs that have many warps in a block.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// A block computes m x n of c and goes along k in steps of 32. Each of its warps computes warp_m x warp_n.
template <int m_, int n_, int warp_m_, int warp_n_>
struct TileShape {
  static constexpr int m = m_, n = n_, k = 32, warp_m = warp_m_, warp_n = warp_n_;
  static constexpr int warps_along_n = n / warp_n, threads = 32 * (m / warp_m) * warps_along_n;
};
/// 8 warps, 2 by 4.
using BlockShape = TileShape<128, 128, 64, 32>;
/// 4 warps, 2 by 2: an eighth of it.
using SmallShape = TileShape<64, 32, 32, 16>;

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

/// How many pieces of 8 elements of a tile each of so many threads copies.
template <class Tile, int threads>
inline constexpr int turns_of = Tile::lines* Tile::length / 8 / threads;

/// All threads of the block go over a tile, 8 elements at a time: place(turn, line, element), the first of them.
template <class Tile, int threads, class Visit>
__device__ void for_each_place(Visit place) {
  // A number of turns that is known, and unsigned division by powers of two: else each copy takes 30 instructions.
  constexpr unsigned pieces = Tile::length / 8;
  constexpr int turns = turns_of<Tile, threads>;
  static_assert(turns * threads * 8 == Tile::lines * Tile::length, "each turn gives every thread a piece");
  TINYMP_UNROLL
  for (int turn = 0; turn < turns; ++turn) {
    const unsigned i = static_cast<unsigned>(turn * threads) + threadIdx.x;
    place(turn, static_cast<int>(i / pieces), static_cast<int>(i % pieces * 8));
  }
}

/// The same over a tile whose first element is (row, col) of x: piece(line, element, from, inside), where `inside` of
/// the 8 lie in the matrix, 0 to 8, the first at `from`.
template <class Tile, int threads, class T, class Piece>
__device__ void for_each_piece(const Source<T>& x, int row, int col, Piece piece) {
  const int first_line = Tile::by_rows ? row : col, first_element = Tile::by_rows ? col : row;
  const int lines = Tile::by_rows ? x.rows : x.cols, length = Tile::by_rows ? x.cols : x.rows;
  for_each_place<Tile, threads>([&](int, int line, int element) {
    const int left = first_line + line < lines ? length - first_element - element : 0;
    const int inside = left < 0 ? 0 : left > 8 ? 8 : left;
    const T* const from =
        x.data + (inside > 0 ? std::int64_t{first_line + line} * x.ld + first_element + element : 0);
    piece(line, element, from, inside);
  });
}

/// The warp of this thread, and where its part of the block's tile begins.
struct WarpPlace {
  int m, n;
};
template <class Shape>
__device__ WarpPlace warp_place() {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  return {warp / Shape::warps_along_n * Shape::warp_m, warp % Shape::warps_along_n * Shape::warp_n};
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
    const WarpPlace place = warp_place<BlockShape>();
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
