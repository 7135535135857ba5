#pragma once

/// TINYMP_HD marks a function that compiles for the CPU and, under nvcc, for the GPU as well.
#if defined(__CUDACC__)
#define TINYMP_HD __host__ __device__
#else
#define TINYMP_HD
#endif
