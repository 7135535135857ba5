#pragma once

#include <kernels/cuda/ptx.h>

/// The tensor-core instruction of Turing (sm_75), which no rung uses: d:(16,8) = d + a:(16,8) . b:(8,8), for FP16.
namespace tinymp::kernels::TINYMP_EXECUTOR {

#if defined(__CUDACC__)

__device__ inline void mma_m16n8k8(float (&d)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
/// Sums in FP16, two in a register.
__device__ inline void mma_m16n8k8(std::uint32_t (&d)[2], const std::uint32_t (&a)[2],
                                   const std::uint32_t (&b)[1]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

#else

/// The first half of m16n8k16, beside zeros: tensor_core.h fills its last block with these, too.
template <class Sums>
void mma_m16n8k8(Sums& d, const std::uint32_t (&a)[2], const std::uint32_t (&b)[1]) {
  const std::uint32_t left[4] = {a[0], a[1], 0, 0}, right[2] = {b[0], 0};
  mma_m16n8k16<__half>(d, left, right);
}

#endif

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
