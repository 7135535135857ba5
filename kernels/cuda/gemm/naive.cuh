#pragma once

#include <kernels/cuda/gemm/types.h>

/// Rung 1: one thread for each element of c, straight from global memory.
///
/// For each multiplication two numbers are fetched, and each number is fetched by N or M threads: memory is
/// what this waits for. 9.3 instructions for each multiplication of a thread: at most 0.7 % of the peak. Its bits are those of the
/// CPU: the same chain of fused multiply-adds.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class T, class Sum>
__global__ void naive(Operand<T> a, Operand<T> b, T* c, int ldc, int M, int N, int K) {
  const int m = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  const int n = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x);
  if (m >= M || n >= N) return;
  Sum sum = narrow<Sum>(0.0f);
  for (int k = 0; k < K; ++k) sum = multiply_add(a(m, k), b(k, n), sum);
  c[std::int64_t{m} * ldc + n] = narrow<T>(static_cast<float>(sum));
}

}  // namespace

void gemm_naive(const GemmProblem& p, Stream stream) {
  if (p.M == 0 || p.N == 0) return;
  with_types(p, [&]<class T, class Sum>(Type<T>, Type<Sum>) {
    launch<naive<T, Sum>>(dim3(blocks(p.M, 8), blocks(p.N, 32)), dim3(32, 8), 0, stream,
                          operand<T>(p.a, p.lda, p.ta), operand<T>(p.b, p.ldb, p.tb), static_cast<T*>(p.c),
                          p.ldc, p.M, p.N, p.K);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
