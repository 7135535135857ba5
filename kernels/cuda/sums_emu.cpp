#include <kernels/cuda/sums.cuh>  // for the CPU: kernels/emu
