#include <kernels/cuda/columns.cuh>  // for the GPU: nvcc compiles it
