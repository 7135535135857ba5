#include <kernels/cuda/layer_norm.cuh>  // for the CPU: kernels/emu
