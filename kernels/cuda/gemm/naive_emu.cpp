#include <kernels/cuda/gemm/naive.cuh>  // for the CPU: kernels/emu
