#include <kernels/cuda/batch_norm.cuh>  // for the CPU: kernels/emu
