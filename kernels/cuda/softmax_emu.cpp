#include <kernels/cuda/softmax.cuh>  // for the CPU: kernels/emu
