#pragma once

#include <kernels/cuda/gemm/types.h>

/// Rung 2: a block of 16x16 threads fetches a tile of a and one of b into shared memory, once, and all its
/// threads multiply from there: global memory is read 16 times less often. It waits for shared memory, from which
/// each multiplication takes two numbers. 7.5 instructions for each: at most 0.8 % of the peak.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

constexpr int tile_size = 16;

/// tile[row][col] = x(first_row + row, first_col + col), and 0 beyond the matrix. Neighbours among the
/// threads take neighbours in memory, along a row or, when the matrix is transposed, along a column.
template <class T>
__device__ void fetch(T (&tile)[tile_size][tile_size + 1], const Operand<T>& x, int first_row, int first_col,
                      int rows, int cols) {
  const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
  const int row = x.right == 1 ? i : j, col = x.right == 1 ? j : i;
  const bool inside = first_row + row < rows && first_col + col < cols;
  tile[row][col] = inside ? x(first_row + row, first_col + col) : narrow<T>(0.0f);
}

// <exercise missing_barrier>
template <class T, class Sum>
__global__ void tiled(Operand<T> a, Operand<T> b, T* c, int ldc, int M, int N, int K) {
  __shared__ T
      a_tile[tile_size][tile_size + 1];  // one more column: a column's elements lie in different banks
  __shared__ T b_tile[tile_size][tile_size + 1];
  const int first_m = static_cast<int>(blockIdx.x) * tile_size,
            first_n = static_cast<int>(blockIdx.y) * tile_size;
  const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
  Sum sum = narrow<Sum>(0.0f);
  for (int first_k = 0; first_k < K; first_k += tile_size) {
    fetch(a_tile, a, first_m, first_k, M, K);
    fetch(b_tile, b, first_k, first_n, K, N);
    __syncthreads();  // all have fetched: now it may be read
    for (int k = 0; k < tile_size; ++k) sum = multiply_add(a_tile[i][k], b_tile[k][j], sum);
    __syncthreads();  // all have read: now it may be overwritten
  }
  const int m = first_m + i, n = first_n + j;
  if (m < M && n < N) c[std::int64_t{m} * ldc + n] = narrow<T>(static_cast<float>(sum));
}
// </exercise missing_barrier>

}  // namespace

void gemm_tiled(const GemmProblem& p, Stream stream) {
  if (p.M == 0 || p.N == 0) return;
  with_types(p, [&]<class T, class Sum>(Type<T>, Type<Sum>) {
    launch<tiled<T, Sum>>(dim3(blocks(p.M, tile_size), blocks(p.N, tile_size)), dim3(tile_size, tile_size), 0,
                          stream, operand<T>(p.a, p.lda, p.ta), operand<T>(p.b, p.ldb, p.tb),
                          static_cast<T*>(p.c), p.ldc, p.M, p.N, p.K);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
