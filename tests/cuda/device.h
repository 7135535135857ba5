#pragma once

#include <kernels/cuda/executor.h>
#include <kernels/device.h>
#include <kernels/emu/chip.h>
#include <tests/catch.h>

/// These tests run twice: on the GPU, where there is one, and with TINYMP_EMULATE=1 (CMakeLists.txt).
#define NEEDS_CUDA()                                                                     \
  if (!tinymp::kernels::emulation_wanted() && tinymp::kernels::cuda_device_count() == 0) \
  SKIP_TEST("there is no GPU on this machine")

namespace tinymp::test {

/// The emulation of no GPU in particular adds up products as the CPU does; tensor cores have rules of their
/// own.
inline bool adds_as_cpu() {
  return kernels::executor() == kernels::Executor::emulation && !kernels::emu::machine::chip();
}

}  // namespace tinymp::test
