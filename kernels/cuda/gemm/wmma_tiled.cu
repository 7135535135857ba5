#include <kernels/cuda/gemm/wmma_tiled.cuh>  // for the GPU: nvcc compiles it
