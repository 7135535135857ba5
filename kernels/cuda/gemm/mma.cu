#include <kernels/cuda/gemm/mma.cuh>  // for the GPU: nvcc compiles it
