#include <kernels/cuda/embedding.cuh>  // for the GPU: nvcc compiles it
