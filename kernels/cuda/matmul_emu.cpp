#include <kernels/cuda/matmul.cuh>  // for the CPU: kernels/emu
