#pragma once

#include <cuda_runtime_api.h>
#include <tinymp/base/error.h>
#include <string_view>

namespace tinymp::kernels::cuda {

/// Throws Error unless the call succeeded. A kernel that failed shows in the next call that waits, and from
/// then on in every call of the program.
inline void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  const char* const advice =
      status == cudaErrorNoKernelImageForDevice
          ? "; this build has no code for this GPU: -DCMAKE_CUDA_ARCHITECTURES=native makes some"
      : status == cudaErrorIllegalAddress || status == cudaErrorLaunchFailure
          ? "; an earlier kernel failed: CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer names it"
          : "";
  throw Error(concat("CUDA: ", what, ": ", cudaGetErrorString(status), advice));
}

/// For calls whose failure does not matter: it must not be blamed on the next one.
inline void ignore(cudaError_t status) {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace tinymp::kernels::cuda
