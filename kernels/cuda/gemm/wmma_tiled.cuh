#pragma once

#include <kernels/cuda/gemm/tile.h>

/// Rung 4: tensor cores fed from shared memory. 8 warps share a tile of a and one of b; each element that
/// comes from global memory is used 128 times. Any sizes and strides: what lies beyond a matrix is 0 in its
/// tile. It waits at its barriers: while a tile is copied, no tensor core works. 13 instructions for each HMMA: at most
/// 31 % of the peak; in BF16 14.8, at most 27 %.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// 16 bytes at once where they are aligned and inside, else one element after the other.
template <class Tile, class T>
__device__ void copy_tile(const Tile& tile, const Source<T>& x, bool aligned, int row, int col) {
  for_each_piece<Tile, BlockShape::threads>(x, row, col,
                                            [&](int line, int element, const T* from, int inside) {
                                              T* const to = tile.line(line, element);
                                              if (aligned && inside == 8) {
                                                copy_16(to, from);
                                              } else {
                                                for (int i = 0; i < 8; ++i)
                                                  to[i] = i < inside ? from[i] : narrow<T>(0.0f);
                                              }
                                            });
}

template <class T, class Sum, class LayoutA, class LayoutB>
__global__ void __launch_bounds__(BlockShape::threads, 2)
    wmma_tiled(Source<T> a, bool a_aligned, Source<T> b, bool b_aligned, T* c, int ldc) {
  using TileA = PaddedTile<T, LayoutA, BlockShape::m, BlockShape::k>;
  using TileB = PaddedTile<T, LayoutB, BlockShape::k, BlockShape::n>;
  __shared__ __align__(128) T a_memory[TileA::size];
  __shared__ __align__(128) T b_memory[TileB::size];
  __shared__ __align__(128) Sum stage[BlockShape::threads / 32][256];
  const TileA a_tile{a_memory};
  const TileB b_tile{b_memory};
  const int m = static_cast<int>(blockIdx.x) * BlockShape::m,
            n = static_cast<int>(blockIdx.y) * BlockShape::n;

  WarpSums<Sum> sums;
  sums.clear();
  for (int k = 0; k < a.cols; k += BlockShape::k) {
    copy_tile(a_tile, a, a_aligned, m, k);
    copy_tile(b_tile, b, b_aligned, k, n);
    __syncthreads();
    sums.template add<T, TileA, TileB, LayoutA, LayoutB>(a_tile, b_tile);
    __syncthreads();
  }
  const WarpPlace place = warp_place<BlockShape>();
  sums.store(stage[threadIdx.x / 32], c, ldc, m + place.m, n + place.n, a.rows, b.cols);
}

}  // namespace

void gemm_wmma_tiled(const GemmProblem& p, Stream stream) {
  if (p.M == 0 || p.N == 0) return;
  const auto aligned = [](const void* x, int ld) {
    return reinterpret_cast<std::uintptr_t>(x) % 16 == 0 && ld % 8 == 0;
  };
  with_16_bit_types(p, [&]<class T, class Sum>(Type<T>, Type<Sum>) {
    with_layouts(p, [&]<class A, class B>(Type<A>, Type<B>) {
      const Source<T> a{static_cast<const T*>(p.a), p.lda, p.M, p.K},
          b{static_cast<const T*>(p.b), p.ldb, p.K, p.N};
      launch<wmma_tiled<T, Sum, A, B>>(dim3(blocks(p.M, BlockShape::m), blocks(p.N, BlockShape::n)),
                                       BlockShape::threads, 0, stream, a, aligned(p.a, p.lda), b,
                                       aligned(p.b, p.ldb), static_cast<T*>(p.c), p.ldc);
    });
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
