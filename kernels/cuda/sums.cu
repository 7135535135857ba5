#include <kernels/cuda/sums.cuh>  // for the GPU: nvcc compiles it
