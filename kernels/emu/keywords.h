#pragma once

/// The words that CUDA adds to C++. On one kind of processor there is nothing to tell apart.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
