#include <kernels/cuda/dropout.cuh>  // for the GPU: nvcc compiles it
