#include <kernels/cuda/conv.cuh>  // for the CPU: kernels/emu
