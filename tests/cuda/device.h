#pragma once

#include <kernels/cuda/executor.h>
#include <kernels/cuda/gemm/ladder.h>
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

/// 80: sm_80. Of the GPU, or of the emulated chip.
inline int architecture() {
#if TINYMP_HAS_CUDA
  if (kernels::executor() == kernels::Executor::gpu) return kernels::cuda::architecture();
#endif
  return kernels::emu::architecture();
}
inline bool multiplies_float8() {
#if TINYMP_HAS_CUDA
  if (kernels::executor() == kernels::Executor::gpu) return kernels::cuda::multiplies_float8();
#endif
  return kernels::emu::multiplies_float8();
}
/// The rung mma, and with it what is made for tensor cores of sm_80 and newer.
inline bool has_mma() { return architecture() >= kernels::rules_of(kernels::Rung::mma).architecture; }

}  // namespace tinymp::test
