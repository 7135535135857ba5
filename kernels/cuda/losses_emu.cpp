#include <kernels/cuda/losses.cuh>  // for the CPU: kernels/emu
