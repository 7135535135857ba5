#include <kernels/cuda/row_ops.cuh>  // for the GPU: nvcc compiles it
