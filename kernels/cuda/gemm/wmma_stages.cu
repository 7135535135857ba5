#include <kernels/cuda/gemm/wmma_stages.cuh>  // for the GPU: nvcc compiles it
