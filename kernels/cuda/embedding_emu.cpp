#include <kernels/cuda/embedding.cuh>  // for the CPU: kernels/emu
