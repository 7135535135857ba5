#pragma once

#include <kernels/cuda/gemm/types.h>

/// Rung 3: tensor cores, in the fewest words. One warp computes one tile of c, 16x16, straight from global
/// memory: the 32 lanes hold the tiles together, and one mma_sync() does 4096 multiplications. It waits for memory: each
/// tile is fetched anew for each product. 16 instructions for each HMMA: at most 25 % of the peak.
///
/// M, N and K are multiples of 16. Layout says how a matrix lies in memory; a transposed one is column by
/// column.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

using namespace nvcuda;

/// The first element of the tile at (row, col).
template <class Layout, class T>
__device__ const T* tile_at(const T* x, int ld, int row, int col) {
  return std::is_same_v<Layout, wmma::row_major> ? x + std::int64_t{row} * ld + col
                                                 : x + std::int64_t{col} * ld + row;
}

// <exercise wmma_kernel>
template <class T, class Sum, class LayoutA, class LayoutB>
__global__ void wmma_naive(const T* a, int lda, const T* b, int ldb, T* c, int ldc, int K) {
  const int m = static_cast<int>(blockIdx.x) * 16, n = static_cast<int>(blockIdx.y) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums;

  wmma::fill_fragment(sums, narrow<Sum>(0.0f));
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(left, tile_at<LayoutA>(a, lda, m, k), static_cast<unsigned>(lda));
    wmma::load_matrix_sync(right, tile_at<LayoutB>(b, ldb, k, n), static_cast<unsigned>(ldb));
    wmma::mma_sync(sums, left, right, sums);
  }

  // Which lane holds which sum is the hardware's secret, until the tile is stored.
  __shared__ __align__(32) Sum tile[16][16];
  wmma::store_matrix_sync(tile[0], sums, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) {
    c[std::int64_t{m + i / 16} * ldc + n + i % 16] = narrow<T>(static_cast<float>(tile[i / 16][i % 16]));
  }
}
// </exercise wmma_kernel>

}  // namespace

void gemm_wmma_naive(const GemmProblem& p, Stream stream) {
  if (p.M == 0 || p.N == 0) return;
  const dim3 tiles(static_cast<unsigned>(p.M / 16), static_cast<unsigned>(p.N / 16));
  with_16_bit_types(p, [&]<class T, class Sum>(Type<T>, Type<Sum>) {
    with_layouts(p, [&]<class A, class B>(Type<A>, Type<B>) {
      launch<wmma_naive<T, Sum, A, B>>(tiles, 32, 0, stream, static_cast<const T*>(p.a), p.lda,
                                       static_cast<const T*>(p.b), p.ldb, static_cast<T*>(p.c), p.ldc, p.K);
    });
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
