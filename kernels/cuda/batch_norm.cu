#include <kernels/cuda/batch_norm.cuh>  // for the GPU: nvcc compiles it
