#include <kernels/cuda/gemm/gemm.cuh>  // for the GPU: nvcc compiles it
