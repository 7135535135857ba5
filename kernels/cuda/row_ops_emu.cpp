#include <kernels/cuda/row_ops.cuh>  // for the CPU: kernels/emu
