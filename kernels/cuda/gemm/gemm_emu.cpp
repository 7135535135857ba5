#include <kernels/cuda/gemm/gemm.cuh>  // for the CPU: kernels/emu
