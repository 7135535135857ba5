#include <kernels/cuda/conv.cuh>  // for the GPU: nvcc compiles it
