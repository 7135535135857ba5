#include <kernels/cuda/layer_norm.cuh>  // for the GPU: nvcc compiles it
