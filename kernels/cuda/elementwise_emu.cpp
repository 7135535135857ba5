#include <kernels/cuda/elementwise.cuh>  // for the CPU: kernels/emu
