#include <kernels/cuda/gemm/wmma_tiles.cuh>  // for the CPU: kernels/emu
