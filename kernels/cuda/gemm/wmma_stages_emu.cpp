#include <kernels/cuda/gemm/wmma_stages.cuh>  // for the CPU: kernels/emu
