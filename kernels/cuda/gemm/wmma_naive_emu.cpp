#include <kernels/cuda/gemm/wmma_naive.cuh>  // for the CPU: kernels/emu
