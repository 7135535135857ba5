#include <kernels/cuda/gemm/wmma_naive.cuh>  // for the GPU: nvcc compiles it
