#pragma once

#include <kernels/cuda/gemm/tile.h>
#include <kernels/formulas/unary.h>

/// A block's part of a product by the instructions themselves, for rung 6 (mma.cuh) and for convolutions
/// (conv_mma.cuh). mma.sync says which lane holds what, so sums go from registers to memory without a detour;
/// ldmatrix fills a fragment in one instruction; and instead of padding, each line's pieces of 16 bytes are stored in
/// an order of its own (a "swizzle"), so that the 8 rows that ldmatrix reads at a time lie in 8 different groups of
/// banks.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// Like PaddedTile, without padding. 8 pieces fill all 32 banks once.
template <class T, class Layout, int rows, int cols>
struct SwizzledTile {
  static constexpr bool by_rows = std::is_same_v<Layout, nvcuda::wmma::row_major>;
  static constexpr int lines = by_rows ? rows : cols;
  static constexpr int length = by_rows ? cols : rows;
  static constexpr int size = lines * length;
  static constexpr int pieces = length / 8;
  static_assert(pieces % 8 == 0 || pieces == 4,
                "the orders below are for lines of 64 bytes, or of n times 128");

  T* data;
  /// Lines of 128 bytes or more start at the same bank: 8 lines, 8 orders. Of those of 64 bytes two fill the
  /// banks: 4 orders for 4 pieces, the same for two neighbours.
  __device__ T* piece(int line, int number) const {
    const int turn = pieces == 4 ? line / 2 % 4 : line % 8;
    return data + line * length + (number ^ turn) * 8;
  }
  /// `element` is a multiple of 8.
  __device__ T* line(int number, int element) const { return piece(number, element / 8); }
};

/// Copies `width` elements at a time. 8: all lines of x begin at multiples of 16 bytes. 2: at multiples of 4; the narrow
/// head of a classifier (10 columns) is such a matrix, and many a parameter in an arena. 1: anywhere, as in a layer of odd
/// width; cp.async has nothing so small, so the threads wait for what they load.
template <int width, int threads, class Tile, class T>
__device__ void fetch_swizzled(const Tile& tile, const Source<T>& x, int row, int col) {
  for_each_piece<Tile, threads>(x, row, col, [&](int line, int element, const T* from, int inside) {
    T* const to = tile.line(line, element);
    if constexpr (width == 8) {
      cp_async_16(to, from, static_cast<int>(sizeof(T)) * inside);
    } else if constexpr (width == 1) {
      TINYMP_UNROLL
      for (int i = 0; i < 8; ++i) to[i] = i < inside ? from[i] : narrow<T>(0.0f);
    } else {
      TINYMP_UNROLL
      for (int i = 0; i < 8; i += 2) {
        const int left = inside - i < 0 ? 0 : inside - i > 2 ? 2 : inside - i;
        cp_async_4(to + i, from + (left > 0 ? i : 0), static_cast<int>(sizeof(T)) * left);
      }
    }
  });
}

/// a(m .. m+15, k .. k+15) as a fragment of mma.m16n8k16. ldmatrix wants from lane 8 i + r the address of row
/// r of the i-th 8x8 matrix; they come in the order (m, k), (m+8, k), (m, k+8), (m+8, k+8). Where a lies
/// column by column, the rows of memory are columns of a, and ldmatrix transposes.
template <class Tile>
__device__ void load_a(std::uint32_t (&fragment)[4], const Tile& a, int m, int k) {
  const int lane = static_cast<int>(threadIdx.x) % 32, i = lane / 8, r = lane % 8;
  const int first_m = m + i % 2 * 8, first_k = k + i / 2 * 8;
  if constexpr (Tile::by_rows) {
    ldmatrix_x4(fragment, a.line(first_m + r, first_k));
  } else {
    ldmatrix_x4_trans(fragment, a.line(first_k + r, first_m));
  }
}

/// b(k .. k+15, n .. n+15): two fragments of 8 columns, two registers each. A lane holds neighbours along k,
/// so here it is the matrix that lies row by row that has to be transposed.
template <class Tile>
__device__ void load_b(std::uint32_t (&fragment)[4], const Tile& b, int k, int n) {
  const int lane = static_cast<int>(threadIdx.x) % 32, i = lane / 8, r = lane % 8;
  const int first_n = n + i / 2 * 8, first_k = k + i % 2 * 8;
  if constexpr (Tile::by_rows) {
    ldmatrix_x4_trans(fragment, b.line(first_k + r, first_n));
  } else {
    ldmatrix_x4(fragment, b.line(first_n + r, first_k));
  }
}

/// The sums that a lane holds of a 16x8 tile: rows g and g + 8, columns 2t and 2t + 1, with g = lane / 4 and
/// t = lane % 4. PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type".
template <class Sum>
struct LaneSums;
template <>
struct LaneSums<float> {
  float d[4] = {};
  __device__ float at(int i) const { return d[i]; }
};
template <>
struct LaneSums<__half> {
  std::uint32_t d[2] = {};
  __device__ float at(int i) const {
    return static_cast<float>(std::bit_cast<__half>(static_cast<std::uint16_t>(d[i / 2] >> (i % 2 * 16))));
  }
};

/// Two numbers of FP8, neighbours along k, as one element of a tile: A is the format of those of a, B of b. Their
/// fragments lie in the lanes as those of 16-bit numbers do, where both matrices lie along k.
template <class A, class B>
struct Float8Pair {
  std::uint16_t codes;
};

/// The instruction for tiles of T.
template <class T>
struct MmaOf {
  template <class Sums>
  __device__ static void multiply(Sums& d, const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    mma_m16n8k16<T>(d, a, b);
  }
};
template <class A, class B>
struct MmaOf<Float8Pair<A, B>> {
  __device__ static void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    mma_m16n8k32<A, B>(d, a, b);
  }
};

constexpr int mma_stage_count = 4;

/// A block's product, of tiles that lie in memory as LayoutA and LayoutB say.
template <class Shape, class T, class Sum, class LayoutA, class LayoutB>
struct MmaBlock {
  using TileA = SwizzledTile<T, LayoutA, Shape::m, Shape::k>;
  using TileB = SwizzledTile<T, LayoutB, Shape::k, Shape::n>;
  static constexpr std::size_t shared_bytes = mma_stage_count * sizeof(T) * (TileA::size + TileB::size);
  static constexpr int along_m = Shape::warp_m / 16, along_n = Shape::warp_n / 8;

  static constexpr int lane_sums = along_m * along_n * 4;  ///< a lane holds so many sums

  LaneSums<Sum> sums[along_m][along_n];

  /// sums += a . b over k = 0 .. K-1, in `memory` of shared_bytes. fetch_a(tile, k) and fetch_b(tile, k) begin to copy
  /// the tiles of a block's rows and columns that begin at k, with zeros behind K.
  template <class FetchA, class FetchB>
  __device__ void multiply(T* memory, int K, FetchA fetch_a, FetchB fetch_b) {
    multiply(memory, K, fetch_a, fetch_b, [](int) {});
  }

  /// The same; calls after(k) each time when the terms before k are in the sums.
  template <class FetchA, class FetchB, class After>
  __device__ void multiply(T* memory, int K, FetchA fetch_a, FetchB fetch_b, After after) {
    const WarpPlace place = warp_place<Shape>();
    const auto a_tile = [&](int stage) {
      return TileA{memory + stage % mma_stage_count * (TileA::size + TileB::size)};
    };
    const auto b_tile = [&](int stage) { return TileB{a_tile(stage).data + TileA::size}; };
    const int stages = (K + Shape::k - 1) / Shape::k;
    const auto fetch = [&](int stage) {
      if (stage < stages) {
        fetch_a(a_tile(stage), stage * Shape::k);
        fetch_b(b_tile(stage), stage * Shape::k);
      }
      cp_async_commit();  // an empty group keeps the count of groups right
    };
    for (int stage = 0; stage < mma_stage_count - 1; ++stage) fetch(stage);
    for (int stage = 0; stage < stages; ++stage) {
      cp_async_wait<mma_stage_count - 2>();
      __syncthreads();
      fetch(stage + mma_stage_count - 1);
      for (int k = 0; k < Shape::k; k += 16) {
        std::uint32_t left[along_m][4], right[along_n / 2][4];
        for (int i = 0; i < along_m; ++i) load_a(left[i], a_tile(stage), place.m + 16 * i, k);
        for (int j = 0; j < along_n / 2; ++j) load_b(right[j], b_tile(stage), k, place.n + 16 * j);
        for (int i = 0; i < along_m; ++i) {
          for (int j = 0; j < along_n; ++j) {
            const std::uint32_t columns[2] = {right[j / 2][j % 2 * 2], right[j / 2][j % 2 * 2 + 1]};
            MmaOf<T>::multiply(sums[i][j].d, left[i], columns);
          }
        }
        after(stage * Shape::k + k + 16);
      }
    }
  }

  /// visit(i, sum) for the i-th sum of this lane, of sums that are kept in FP32.
  template <class Visit>
  __device__ void for_each_sum(Visit visit) {
    TINYMP_UNROLL
    for (int i = 0; i < along_m; ++i) {
      TINYMP_UNROLL
      for (int j = 0; j < along_n; ++j) {
        TINYMP_UNROLL
        for (int e = 0; e < 4; ++e) visit((i * along_n + j) * 4 + e, sums[i][j].d[e]);
      }
    }
  }

  /// Adds the sums, which are kept in FP32, to those of `total`, and begins anew at 0.
  __device__ void move_sums_to(MmaBlock& total) {
    TINYMP_UNROLL
    for (int i = 0; i < along_m; ++i) {
      TINYMP_UNROLL
      for (int j = 0; j < along_n; ++j) {
        TINYMP_UNROLL
        for (int e = 0; e < 4; ++e) {
          total.sums[i][j].d[e] += sums[i][j].d[e];
          sums[i][j].d[e] = 0;
        }
      }
    }
  }

  /// pair(row, col, first, second) for what this lane holds: two neighbours of a row, which begins at (row, col) of the
  /// block's part.
  template <class Pair>
  __device__ void for_each_pair(Pair pair) const {
    const WarpPlace place = warp_place<Shape>();
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    TINYMP_UNROLL
    for (int i = 0; i < along_m; ++i) {
      TINYMP_UNROLL
      for (int e = 0; e < 4; e += 2) {
        TINYMP_UNROLL
        for (int j = 0; j < along_n; ++j) {
          pair(place.m + 16 * i + g + e / 2 * 8, place.n + 8 * j + 2 * t, sums[i][j].at(e),
               sums[i][j].at(e + 1));
        }
      }
    }
  }
};

/// What follows a product at once. Each value is rounded to T after the sum, after the bias and after relu, as in kernels
/// of their own.
template <class T>
struct Finish {
  const T* bias;  // nullptr: none
  int columns;
  bool relu;

  __device__ T operator()(float sum, int col) const {
    T y = narrow<T>(sum);
    if (bias != nullptr && col < columns)
      y = narrow<T>(static_cast<float>(y) + static_cast<float>(bias[col]));
    return relu ? narrow<T>(Relu::forward(static_cast<float>(y))) : y;
  }
};

/// Writes two neighbours, of which `inside` lie in the matrix: in one store where all pairs of c are aligned.
template <class T>
__device__ void store_pair(T* to, int inside, bool pairs, T first, T second) {
  if (pairs && inside >= 2) {
    const std::uint32_t both =
        std::bit_cast<std::uint16_t>(first) | std::uint32_t{std::bit_cast<std::uint16_t>(second)} << 16;
    *reinterpret_cast<std::uint32_t*>(to) = both;
    return;
  }
  if (inside >= 1) to[0] = first;
  if (inside >= 2) to[1] = second;
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
