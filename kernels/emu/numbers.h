#pragma once

#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>

/// CUDA's names for 16-bit numbers. Kernels convert with static_cast, which CUDA and the emulation both
/// compile.
namespace tinymp::kernels::emu {

using __half = tinymp::half;
using __nv_bfloat16 = tinymp::bfloat16;

inline float __half2float(__half x) { return static_cast<float>(x); }
inline __half __float2half(float x) { return static_cast<__half>(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return static_cast<float>(x); }
inline __nv_bfloat16 __float2bfloat16(float x) { return static_cast<__nv_bfloat16>(x); }

}  // namespace tinymp::kernels::emu
