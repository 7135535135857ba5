#include <kernels/cuda/softmax.cuh>  // for the GPU: nvcc compiles it
