#pragma once

#include <kernels/cuda/values.h>

/// The end of a pass over the whole grid, without a second launch.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// True in all threads of the block that comes here last. It sees what all other blocks wrote before they came. `blocks` is
/// 0 before the launch, and again after it. CUDA C++ Programming Guide, "Memory Fence Functions", has the pattern.
__device__ inline bool is_last_block(std::uint32_t* blocks) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(blocks, 1u) + 1 == gridDim.x;
  __syncthreads();
  if (!is_last) return false;
  __threadfence();
  if (threadIdx.x == 0) *blocks = 0;
  return true;
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
