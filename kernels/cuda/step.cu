#include <kernels/cuda/step.cuh>  // for the GPU: nvcc compiles it
