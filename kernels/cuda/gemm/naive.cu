#include <kernels/cuda/gemm/naive.cuh>  // for the GPU: nvcc compiles it
