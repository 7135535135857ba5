#pragma once

#include <kernels/cuda/gemm/ladder.h>

/// The kernel of lesson 02, with its barrier and without. It computes what the ladder's kernels do
/// (ladder.h), for FP16 with sums in FP32. N and K are multiples of 16, K is at most 1024, tiles of b lie at
/// multiples of 32 bytes in rows that are multiples of 16 bytes apart; M is any number. Throws Error for
/// other problems.
namespace tinymp::kernels {
namespace emu {
void matmul_with_barrier(const GemmProblem& problem, Stream stream);
void matmul_without_barrier(const GemmProblem& problem, Stream stream);
}  // namespace emu
namespace cuda {
void matmul_with_barrier(const GemmProblem& problem, Stream stream);
void matmul_without_barrier(const GemmProblem& problem, Stream stream);
}  // namespace cuda
}  // namespace tinymp::kernels
