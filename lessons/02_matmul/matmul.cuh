#pragma once

#include <kernels/cuda/cuda.h>
#include <lessons/02_matmul/matmul.h>
#include <tinymp/base/error.h>
#include <cstdint>

/// c = op(a) . op(b), 16 rows and 64 columns of c a block. Its four warps take 16 columns each, and all of
/// them need the same 16 rows of a: one warp fetches these into shared memory, once for all four.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

using namespace nvcuda;

constexpr int longest_row = 1024;  // 16 of them take 32 of the 48 KiB of shared memory that a block has

template <bool barrier, class LayoutB>
__global__ void matmul(const __half* a, int a_down, int a_right, const __half* b, int ldb, __half* c, int ldc,
                       int M, int N, int K) {
  __shared__ __align__(32) __half rows[16][longest_row];
  __shared__ __align__(32) float tile[4][16][16];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int m = static_cast<int>(blockIdx.x) * 16, n = static_cast<int>(blockIdx.y) * 64 + warp * 16;

  if (warp == 3) {  // the one with least to do where c has fewer than 64 columns
    for (int row = 0; row < 16; ++row) {
      const __half* const from = a + std::int64_t{m + row} * a_down;
      for (int k = lane; k < K; k += 32) {
        rows[row][k] = m + row < M ? from[std::int64_t{k} * a_right] : static_cast<__half>(0.0f);
      }
    }
  }
  if constexpr (barrier) {
    __syncthreads();  // all warps wait for each other
  } else {
    __syncwarp();  // the lanes of a warp wait for each other, but no warp waits for warp 3
  }
  if (n >= N) return;

  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, LayoutB> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int k = 0; k < K; k += 16) {
    const bool by_rows = std::is_same_v<LayoutB, wmma::row_major>;
    const __half* const b_tile = by_rows ? b + std::int64_t{k} * ldb + n : b + std::int64_t{n} * ldb + k;
    wmma::load_matrix_sync(left, &rows[0][k], longest_row);
    wmma::load_matrix_sync(right, b_tile, static_cast<unsigned>(ldb));
    wmma::mma_sync(sums, left, right, sums);
  }

  wmma::store_matrix_sync(tile[warp][0], sums, 16, wmma::mem_row_major);
  __syncwarp();  // enough here: each warp reads what it has stored itself
  for (int i = lane; i < 256; i += 32) {
    const int row = m + i / 16, col = n + i % 16;
    if (row < M) c[std::int64_t{row} * ldc + col] = static_cast<__half>(tile[warp][i / 16][i % 16]);
  }
}

template <bool barrier, class LayoutB>
void launch_matmul(const GemmProblem& p, Stream stream) {
  const bool a_by_rows = p.ta == Trans::no;
  launch<matmul<barrier, LayoutB>>(
      dim3(static_cast<unsigned>((p.M + 15) / 16), static_cast<unsigned>((p.N + 63) / 64)), 128, 0, stream,
      static_cast<const __half*>(p.a), a_by_rows ? p.lda : 1, a_by_rows ? 1 : p.lda,
      static_cast<const __half*>(p.b), p.ldb, static_cast<__half*>(p.c), p.ldc, p.M, p.N, p.K);
}

template <bool barrier>
void checked_matmul(const GemmProblem& p, Stream stream) {
  expect(
      p.format == Format::f16 && p.sums == Sums::f32 && p.N % 16 == 0 && p.K % 16 == 0 && p.K <= longest_row,
      "the kernel of lesson 02 multiplies FP16 with sums in FP32, N and K being multiples of 16 and K at "
      "most ",
      longest_row, "; this problem has N = ", p.N, ", K = ", p.K,
      " or other formats: take a kernel of the ladder");
  if (p.M == 0 || p.N == 0) return;
  if (p.tb == Trans::no) {
    launch_matmul<barrier, wmma::row_major>(p, stream);
  } else {
    launch_matmul<barrier, wmma::col_major>(p, stream);
  }
}

}  // namespace

void matmul_with_barrier(const GemmProblem& p, Stream stream) { checked_matmul<true>(p, stream); }
void matmul_without_barrier(const GemmProblem& p, Stream stream) { checked_matmul<false>(p, stream); }

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
