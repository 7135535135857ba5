#include <kernels/cuda/gemm/tiled.cuh>  // for the GPU: nvcc compiles it
