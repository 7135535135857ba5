#pragma once

/// The words that CUDA adds to C++. Here all of them mean nothing: there is one kind of processor.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
