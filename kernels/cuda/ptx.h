#pragma once

#include <kernels/cuda/cuda.h>
#include <cstdint>

/// PTX instructions that CUDA C++ has no name for, or turns into more than one. kernels/emu/ptx.h says what each of them
/// does, lane by lane.
#if !defined(__CUDACC__)
#include <kernels/emu/ptx.h>
#else

#include <tinymp/numeric/half.h>
#include <tinymp/numeric/rounded.h>
#include <type_traits>

// PTX 8.4, of CUDA 12.4, is the first in which mma.sync takes FP8.
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1204
#define TINYMP_KNOWS_FLOAT8 1
#else
#define TINYMP_KNOWS_FLOAT8 0
#endif

namespace tinymp::kernels::cuda {

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// 16 bytes in one instruction; both addresses are multiples of that.
__device__ inline void copy_16(void* to, const void* from) {
  *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
}

/// Four 8x8 matrices of 16-bit elements; lane 8 i + r gives the address of row r of matrix i. sm_75.
__device__ inline void ldmatrix_x4(std::uint32_t (&d)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(shared_address(row))
               : "memory");
}
__device__ inline void ldmatrix_x4_trans(std::uint32_t (&d)[4], const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
               : "r"(shared_address(row))
               : "memory");
}

/// Two floats as float8_e4m3 or float8_e5m2, to nearest even, the first in the lower byte. Beyond the largest number, infinity
/// too, becomes the largest; NaN becomes any NaN. From sm_89 on it is one instruction.
template <class Y>
__device__ inline std::uint32_t cvt_satfinite_x2(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && TINYMP_KNOWS_FLOAT8
  std::uint16_t d;
  if constexpr (std::is_same_v<Y, float8_e4m3>) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(d) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(d) : "f"(second), "f"(first));
  }
  return d;
#else
  const auto code = [](float x) {
    return std::uint32_t{rounded<Y>(x, Rounding::nearest_even, 0, Overflow::saturate).bits()};
  };
  return code(first) | code(second) << 8;
#endif
}

/// Two numbers of FP8, the first in the lower byte, as halves, which hold all of them; NaN becomes any NaN. From sm_89 on it is
/// one instruction.
template <class X>
__device__ inline std::uint32_t cvt_to_halves(std::uint32_t codes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && TINYMP_KNOWS_FLOAT8
  std::uint32_t d;
  const auto both = static_cast<std::uint16_t>(codes);
  if constexpr (std::is_same_v<X, float8_e4m3>) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(d) : "h"(both));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(d) : "h"(both));
  }
  return d;
#else
  const auto one = [](std::uint32_t code) {
    return std::uint32_t{half(static_cast<float>(X::from_bits(static_cast<std::uint8_t>(code)))).bits()};
  };
  return one(codes & 0xff) | one(codes >> 8 & 0xff) << 16;
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/// d:(16,8) = d + a:(16,16) . b:(16,8), for T = __half or __nv_bfloat16, sums in FP32. sm_80.
template <class T>
__device__ inline void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  if constexpr (std::is_same_v<T, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
}
/// The same with sums in FP16, two in a register; T = __half.
template <class T>
__device__ inline void mma_m16n8k16(std::uint32_t (&d)[2], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
  static_assert(std::is_same_v<T, __half>, "sums are FP16 for operands of __half only");
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#if TINYMP_KNOWS_FLOAT8 && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890)
/// d:(16,8) = d + a:(16,32) . b:(32,8) for FP8, A and B each float8_e4m3 or float8_e5m2, sums in FP32. sm_89, where it is
/// one instruction, QMMA; multiplies_float8() tells whether it is there. For sm_90 nvcc 13 unpacks a and b to FP16 and makes
/// two HMMA of it: there it costs what FP16
/// costs, and adds as Instruction::mma_sync (kernels/numerics/tensor_core.h). Only wgmma has Hopper's own unit for FP8.
template <class A, class B>
__device__ inline void mma_m16n8k32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  constexpr bool a_is_e4m3 = std::is_same_v<A, float8_e4m3>, b_is_e4m3 = std::is_same_v<B, float8_e4m3>;
#define TINYMP_MMA(formats)                                     \
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32." formats \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "      \
               "{%8, %9}, {%0, %1, %2, %3};"                    \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (a_is_e4m3 && b_is_e4m3) {
    TINYMP_MMA("e4m3.e4m3");
  } else if constexpr (a_is_e4m3) {
    TINYMP_MMA("e4m3.e5m2");
  } else if constexpr (b_is_e4m3) {
    TINYMP_MMA("e5m2.e4m3");
  } else {
    TINYMP_MMA("e5m2.e5m2");
  }
#undef TINYMP_MMA
}
#else
template <class A, class B>
__device__ inline void mma_m16n8k32(float (&)[4], const std::uint32_t (&)[4], const std::uint32_t (&)[2]) {
  __trap();
}
#endif

/// 16 bytes from global to shared memory, the last 16 - `bytes` of them 0. sm_80.
__device__ inline void cp_async_16(void* shared, const void* global, int bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(bytes)
               : "memory");
}
/// The same for 4 bytes, at multiples of 4.
__device__ inline void cp_async_4(void* shared, const void* global, int bytes = 4) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(bytes)
               : "memory");
}
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most `keep` of this thread's groups are under way.
template <int keep>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(keep) : "memory");
}

#else  // sm_75: no kernel that needs these is launched there (gemm/ladder.h), but all have to compile

template <class T, class D>
__device__ inline void mma_m16n8k16(D&, const std::uint32_t (&)[4], const std::uint32_t (&)[2]) {
  __trap();
}
template <class A, class B>
__device__ inline void mma_m16n8k32(float (&)[4], const std::uint32_t (&)[4], const std::uint32_t (&)[2]) {
  __trap();
}
__device__ inline void cp_async_16(void*, const void*, int = 16) { __trap(); }
__device__ inline void cp_async_4(void*, const void*, int = 4) { __trap(); }
__device__ inline void cp_async_commit() { __trap(); }
template <int keep>
__device__ inline void cp_async_wait() {
  __trap();
}

#endif

}  // namespace tinymp::kernels::cuda

#endif
