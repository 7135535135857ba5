#include <kernels/cuda/elementwise.cuh>  // for the GPU: nvcc compiles it
