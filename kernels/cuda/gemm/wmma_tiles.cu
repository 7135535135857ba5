#include <kernels/cuda/gemm/wmma_tiles.cuh>  // for the GPU: nvcc compiles it
