#include <kernels/cuda/losses.cuh>  // for the GPU: nvcc compiles it
