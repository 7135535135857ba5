#pragma once

#include <kernels/cuda/gemm/tile.h>
#include <algorithm>

/// Rung 5: rung 4 with its tiles on their way before they are needed. While the tensor cores work on one
/// stage, cp.async fills the next ones, past the registers; no warp waits for memory unless it is slower than
/// the arithmetic. Rows of a and b start at multiples of 16 bytes. It waits for shared memory: padding does not keep all of
/// a fragment's rows in different banks. 5.8 instructions for each HMMA: at most 69 % of the peak; in
/// BF16 10.0, at most 40 %.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

constexpr int wmma_stage_count = 3;

template <class Tile, class T>
__device__ void fetch_tile(const Tile& tile, const Source<T>& x, int row, int col) {
  for_each_piece<Tile, BlockShape::threads>(
      x, row, col, [&](int line, int element, const T* from, int inside) {
        // Not __pipeline_memcpy_async: of a number of bytes that is not known it makes a tree of eight branches.
        cp_async_16(tile.line(line, element), from, static_cast<int>(sizeof(T)) * inside);
      });
}

template <class T, class Sum, class LayoutA, class LayoutB>
__global__ void __launch_bounds__(BlockShape::threads, 2)
    wmma_stages(Source<T> a, Source<T> b, T* c, int ldc) {
  using TileA = PaddedTile<T, LayoutA, BlockShape::m, BlockShape::k>;
  using TileB = PaddedTile<T, LayoutB, BlockShape::k, BlockShape::n>;
  DYNAMIC_SHARED(T, memory);
  const auto a_tile = [&](int stage) {
    return TileA{memory + stage % wmma_stage_count * (TileA::size + TileB::size)};
  };
  const auto b_tile = [&](int stage) { return TileB{a_tile(stage).data + TileA::size}; };
  const int m = static_cast<int>(blockIdx.x) * BlockShape::m,
            n = static_cast<int>(blockIdx.y) * BlockShape::n;

  const int stages = (a.cols + BlockShape::k - 1) / BlockShape::k;
  const auto fetch = [&](int stage) {
    if (stage < stages) {
      fetch_tile(a_tile(stage), a, m, stage * BlockShape::k);
      fetch_tile(b_tile(stage), b, stage * BlockShape::k, n);
    }
    cp_async_commit();  // an empty group keeps the count of groups right
  };

  WarpSums<Sum> sums;
  sums.clear();
  for (int stage = 0; stage < wmma_stage_count - 1; ++stage) fetch(stage);
  for (int stage = 0; stage < stages; ++stage) {
    cp_async_wait<wmma_stage_count - 2>();  // this thread's part of the stage has come,
    __syncthreads();                        // and everybody's; and all are done with the one before,
    fetch(stage + wmma_stage_count - 1);    // whose place the new one takes
    sums.template add<T, TileA, TileB, LayoutA, LayoutB>(a_tile(stage), b_tile(stage));
  }
  __syncthreads();
  const WarpPlace place = warp_place<BlockShape>();
  Sum* const stage = reinterpret_cast<Sum*>(memory) + threadIdx.x / 32 * 256;
  sums.store(stage, c, ldc, m + place.m, n + place.n, a.rows, b.cols);
}

}  // namespace

void gemm_wmma_stages(const GemmProblem& p, Stream stream) {
  if (p.M == 0 || p.N == 0) return;
  with_16_bit_types(p, [&]<class T, class Sum>(Type<T>, Type<Sum>) {
    with_layouts(p, [&]<class A, class B>(Type<A>, Type<B>) {
      using TileA = PaddedTile<T, A, BlockShape::m, BlockShape::k>;
      using TileB = PaddedTile<T, B, BlockShape::k, BlockShape::n>;
      constexpr std::size_t bytes = wmma_stage_count * sizeof(T) * (TileA::size + TileB::size);
      static_assert(bytes >= BlockShape::threads / 32 * 256 * sizeof(Sum),
                    "the sums go out through the same memory");
      const Source<T> a{static_cast<const T*>(p.a), p.lda, p.M, p.K},
          b{static_cast<const T*>(p.b), p.ldb, p.K, p.N};
      launch<wmma_stages<T, Sum, A, B>>(dim3(blocks(p.M, BlockShape::m), blocks(p.N, BlockShape::n)),
                                        BlockShape::threads, bytes, stream, a, b, static_cast<T*>(p.c),
                                        p.ldc);
    });
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
