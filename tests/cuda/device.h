#pragma once

#include <kernels/cuda/executor.h>
#include <kernels/device.h>
#include <tests/catch.h>
#include <cstdlib>

/// These tests run twice: on the GPU, where there is one, and with TINYMP_EMULATE=1 (CMakeLists.txt).
#define NEEDS_CUDA()                                                                         \
  if (std::getenv("TINYMP_EMULATE") == nullptr && tinymp::kernels::cuda_device_count() == 0) \
  SKIP_TEST("there is no GPU on this machine")

namespace tinymp::test {

/// The emulation adds up products as the CPU does; a tensor core has an order of its own.
inline bool emulated() { return kernels::executor() == kernels::Executor::emulation; }

}  // namespace tinymp::test
