#include <kernels/cuda/matmul.cuh>  // for the GPU: nvcc compiles it
