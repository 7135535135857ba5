#include <kernels/cuda/dropout.cuh>  // for the CPU: kernels/emu
