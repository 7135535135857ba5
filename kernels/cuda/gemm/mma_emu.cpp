#include <kernels/cuda/gemm/mma.cuh>  // for the CPU: kernels/emu
