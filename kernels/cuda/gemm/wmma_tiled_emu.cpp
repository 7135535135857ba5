#include <kernels/cuda/gemm/wmma_tiled.cuh>  // for the CPU: kernels/emu
