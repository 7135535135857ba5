#include <kernels/cuda/columns.cuh>  // for the CPU: kernels/emu
