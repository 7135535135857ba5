#pragma once

/// What a kernel file (.cuh) includes. nvcc compiles it for the GPU, g++ and clang++ for the CPU
/// (kernels/emu). The two live in namespaces of their own, so one program can have both:
///
///   namespace tinymp::kernels::TINYMP_EXECUTOR {       // cuda, or emu
///   namespace {                                        // always: see kernels/emu/shared.h
///   __global__ void scale(float* x, int n, float by) {
///     const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
///     if (i < n) x[i] *= by;
///   }
///   }  // namespace
///   void scale_all(float* x, int n, float by, Stream stream) {
///     launch<scale>((n + 255) / 256, 256, 0, stream, x, n, by);   // <<<...>>> is nvcc's alone
///   }
///   }
///
/// CMake writes the two sources that include it, scale.cu and scale_emu.cpp (cmake/Library.cmake). Every .cuh
/// is such a file; what several of them include is an .h.
#include <kernels/cuda/stream.h>

#if !defined(__CUDACC__)

#include <kernels/emu/emu.h>
#define TINYMP_EXECUTOR emu
#define TINYMP_UNROLL
#define TINYMP_ROLLED

#else

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <kernels/cuda/check.h>
#include <kernels/emu/kernel_name.h>
#include <kernels/recording.h>
#include <mma.h>
#include <atomic>
#include <cstddef>
#define TINYMP_EXECUTOR cuda
#define TINYMP_UNROLL \
  _Pragma("unroll")  ///< before a loop whose turns are known; other compilers do not know it
#define TINYMP_ROLLED _Pragma("unroll 1")  ///< before a loop whose copies would only be longer

/// DYNAMIC_SHARED(float, tile);  a pointer to the shared memory whose bytes the launch asked for, aligned to 128.
#define DYNAMIC_SHARED(T, name)                                     \
  extern __shared__ __align__(128) unsigned char dynamic_shared_[]; \
  T* const name = reinterpret_cast<T*>(dynamic_shared_)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/// Tensor cores of sm_75 do not know BF16. No kernel that needs it is launched there, but all have to
/// compile.
namespace nvcuda::wmma {
template <class Use, class Layout>
class fragment<Use, 16, 16, 16, __nv_bfloat16, Layout> {};
template <class Use, class Layout>
__device__ void load_matrix_sync(fragment<Use, 16, 16, 16, __nv_bfloat16, Layout>&, const __nv_bfloat16*,
                                 unsigned) {
  __trap();
}
template <class LayoutA, class LayoutB>
__device__ void mma_sync(fragment<accumulator, 16, 16, 16, float>&,
                         const fragment<matrix_a, 16, 16, 16, __nv_bfloat16, LayoutA>&,
                         const fragment<matrix_b, 16, 16, 16, __nv_bfloat16, LayoutB>&,
                         const fragment<accumulator, 16, 16, 16, float>&) {
  __trap();
}
}  // namespace nvcuda::wmma
#endif

namespace tinymp::kernels::cuda {

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...). Does not wait. Throws Error when the launch
/// is refused.
template <auto kernel, class... Arguments>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream, const Arguments&... arguments) {
  // More than 48 KB have to be asked for, once: CUDA C++ Programming Guide, "Shared Memory".
  static std::atomic<std::size_t> granted = 48 * 1024;
  if (shared_bytes > granted) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)),
          emu::machine::short_kernel_name(emu::machine::kernel_name<kernel>()));
    granted = shared_bytes;
  }
  kernel<<<grid, block, shared_bytes, static_cast<cudaStream_t>(stream)>>>(arguments...);
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) {
    if (recording != nullptr)
      recording->add(emu::machine::short_kernel_name(emu::machine::kernel_name<kernel>()));
    return;
  }
  check(status,
        concat("launch of kernel ", emu::machine::short_kernel_name(emu::machine::kernel_name<kernel>()),
               " as ", grid.x, "x", grid.y, "x", grid.z, " blocks of ", block.x * block.y * block.z,
               " threads with ", shared_bytes, " bytes of shared memory"));
}

}  // namespace tinymp::kernels::cuda

#endif
