#include <kernels/cuda/step.cuh>  // for the CPU: kernels/emu
