#pragma once

#include <kernels/cuda/cuda.h>
#include <kernels/cuda/gemm/ladder.h>
#include <kernels/cuda/ptx.h>
#include <kernels/profile.h>
#if !defined(__CUDACC__)
#include <kernels/emu/chip.h>
#endif

namespace tinymp::kernels::TINYMP_EXECUTOR {

int architecture() {
#if defined(__CUDACC__)
  static const int found = [] {  // every product asks
    int device = 0, major = 0, minor = 0;
    check(cudaGetDevice(&device), "the device in use");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "its architecture");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "its architecture");
    return 10 * major + minor;
  }();
  return found;
#else
  return machine::architecture_of(machine::chip());
#endif
}

#if defined(__CUDACC__)
namespace {
__global__ void any_kernel() {}
}  // namespace
#endif

bool multiplies_float8() {
#if !defined(__CUDACC__)
  return architecture() >= 89;
#elif TINYMP_KNOWS_FLOAT8
  // A card of sm_89 runs code for sm_80, too, in which the instruction is missing.
  static const bool found = [] {
    cudaFuncAttributes of_code{};
    check(cudaFuncGetAttributes(&of_code, any_kernel), "what the code is made for");
    return architecture() >= 89 && of_code.ptxVersion >= 89;
  }();
  return found;
#else
  return false;
#endif
}

bool may_split_sums() {
#if defined(__CUDACC__)
  return true;
#else
  return machine::chip().has_value();
#endif
}

Rung gemm(Rung wanted, const GemmProblem& problem, Stream stream) {
  const Rung rung = rung_for(wanted, problem, architecture());
  detail::tell_way(rules_of(rung).name.data());  // a literal, so it ends with a zero
  switch (rung) {
    case Rung::naive:
      gemm_naive(problem, stream);
      break;
    case Rung::tiled:
      gemm_tiled(problem, stream);
      break;
    case Rung::wmma_naive:
      gemm_wmma_naive(problem, stream);
      break;
    case Rung::wmma_tiled:
      gemm_wmma_tiled(problem, stream);
      break;
    case Rung::wmma_stages:
      gemm_wmma_stages(problem, stream);
      break;
    case Rung::mma:
      gemm_mma(problem, stream);
      break;
  }
  return rung;
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
