#pragma once

#include <kernels/cuda/cuda.h>
#include <cstdint>

/// The end of what several blocks do together, without a second launch.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// True in all threads of the block that comes here last of `all`. It sees what the others wrote before they came. `blocks`
/// is 0 before the launch, and again after it. CUDA C++ Programming Guide, "Memory Fence Functions", has the pattern.
__device__ inline bool is_last_block(std::uint32_t* blocks, unsigned all) {
  __shared__ bool is_last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(blocks, 1u) + 1 == all;
  __syncthreads();
  if (!is_last) return false;
  __threadfence();
  if (threadIdx.x == 0) *blocks = 0;
  return true;
}

}  // namespace
}  // namespace tinymp::kernels::TINYMP_EXECUTOR
